import { parseDuration } from '@sluice/core';
import { type StorageAccess, tryInThread } from '../../storage/storage-access.ts';
import type { EngineSink, Launch } from '../engine.ts';
import { forEachLimit } from '../for-each-limit.ts';
import { limitLog } from '../limit-log.ts';
import { isJobOver, type JobEvidence } from './is-job-over.ts';
import { askJob, killJobs, type SlurmPrograms } from './kill-jobs.ts';
import type { SlurmConfig } from './slurm-config.ts';
import type { TrackedContainer } from './slurm-container.ts';
import type { NodeAddresses } from './slurm-nodes.ts';
import { slurmMeaning, slurmOutcome } from './slurm-outcome.ts';
import { ownJobs, type SlurmJob } from './slurm-queue.ts';

/** Interval at which a killed job is killed again while it still exists. */
const KILL_AGAIN_MS = 5000;

/** How often Slurm is asked whether it answers while there is no container. */
const IDLE_MS = 30_000;

/** The cluster to watch. */
export interface SlurmWatchOptions {
  readonly programs: SlurmPrograms;
  readonly addressOf: NodeAddresses;
  readonly config: Pick<SlurmConfig, 'pollInterval' | 'recordGrace'>;
  /** Of the containers' directories. */
  readonly storage: StorageAccess;
}

/**
 * Reports changes of the engine's containers to the sink, based on one `squeue` per tick and on the records of their jobs.
 * Also kills jobs, repeatedly until Slurm has ended them.
 */
export class SlurmWatch {
  readonly #programs: SlurmPrograms;
  readonly #config: SlurmWatchOptions['config'];
  readonly #storage: StorageAccess;
  readonly #addressOf: NodeAddresses;
  readonly #tracked = new Map<string, TrackedContainer>();
  #sink: EngineSink | undefined;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  /** When the queue was last read, by a monotonic clock. */
  #readAt = Number.NEGATIVE_INFINITY;

  constructor({ programs, addressOf, config, storage }: SlurmWatchOptions) {
    this.#programs = programs;
    this.#config = config;
    this.#storage = storage;
    this.#addressOf = addressOf;
  }

  /** Starts reporting to `sink`, at the interval of the configuration. */
  start(sink: EngineSink): void {
    this.#sink = sink;
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const entry of this.#tracked.values()) clearTimeout(entry.kill);
    await this.#ticking;
  }

  get(key: string): TrackedContainer | undefined {
    return this.#tracked.get(key);
  }

  track(entry: TrackedContainer): void {
    this.#tracked.set(entry.launch.key, entry);
  }

  forget(entry: TrackedContainer): void {
    clearTimeout(entry.kill);
    this.#tracked.delete(entry.launch.key);
  }

  /** Reports changes of the queue and the records. Rejects if Slurm does not respond. */
  async tick(): Promise<void> {
    if (this.#tracked.size === 0 && performance.now() - this.#readAt < IDLE_MS) return;
    const before = [...this.#tracked.values()];
    this.#readAt = performance.now();
    const own = process.geteuid?.() ?? 0;
    const jobs = await this.#programs.readQueue([own, ...before.flatMap(({ owners }) => [...owners])]);
    this.#sink?.answers?.(undefined);
    await forEachLimit(before, async (entry) => {
      if (this.#closed) return;
      // A controller that crashed may have lost a job and reused its ID for another.
      const ours = ownJobs(jobs, entry);
      const job = ours.find(({ jobId }) => jobId === entry.jobId);
      // A storage error of one container must not affect the others, and a storage that does not answer must not delay the
      // tick: the next one tries again.
      await this.#settle(entry, job).catch(() => undefined);
    });
  }

  /** Requests the job's end, and kills it after `graceMs`. */
  async cancel(entry: TrackedContainer, graceMs: number): Promise<void> {
    // A job that has started gets a signal; its record may exist before the next tick sees it. If the storage does not give
    // it, Slurm's state decides.
    const started = await entry.records.readStart().catch(() => 'unknown' as const);
    const hasStarted =
      started === 'unknown' ? entry.state !== undefined && slurmMeaning(entry.state) === 'running' : started;
    if (graceMs === 0 || (!hasStarted && !entry.running)) {
      this.killAfter(entry, KILL_AGAIN_MS);
      return await killJobs(this.#programs, entry);
    }
    // Counted from the request, not from the response: for a suspended job scancel waits long and sends no signal.
    this.killAfter(entry, graceMs);
    const jobId = started === 'unknown' ? undefined : started?.jobId;
    await askJob(this.#programs, { ...entry, jobId: jobId ?? entry.jobId });
  }

  /** Kills the job after `ms`, and then repeatedly until its end is known. */
  killAfter(entry: TrackedContainer, ms: number): void {
    const { key } = entry.launch;
    const kill = async () => {
      await killJobs(this.#programs, entry).catch(() => undefined);
      if (this.#tracked.has(key)) this.killAfter(entry, KILL_AGAIN_MS);
    };
    clearTimeout(entry.kill);
    entry.kill = setTimeout(() => void kill(), ms).unref();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      // Slurm's controller may not respond: the jobs continue, and the next tick tries again.
      this.#ticking = this.tick()
        .catch((error: unknown) => {
          this.#readAt = Number.NEGATIVE_INFINITY;
          this.#sink?.answers?.(`Slurm does not answer: ${(error as Error).message}`);
        })
        .finally(() => {
          if (!this.#closed) this.#schedule();
        });
    }, parseDuration(this.#config.pollInterval));
  }

  /** Reports the current state according to the queue and the records. */
  async #settle(entry: TrackedContainer, job: SlurmJob | undefined): Promise<void> {
    const { key } = entry.launch;
    if (job) entry.state = job.state;
    const meaning = job ? slurmMeaning(job.state) : 'ended';
    if (meaning !== 'ended') entry.missedAt = undefined;
    if (job && meaning === 'pending') {
      const reason = `queued in Slurm as job ${job.jobId}: ${job.reason}`;
      if (reason !== entry.reason) this.#sink?.report(key, { type: 'pending', reason });
      entry.reason = reason;
      return;
    }
    // Its records do not change until it ends.
    if (entry.running && meaning === 'running') return await this.#limitLog(entry.launch);
    const started = await entry.records.readStart();
    // Of two jobs for one container, the one with the claim is the container, and the other one exits immediately. A job
    // that still runs is never replaced because of a record.
    if (started && started.jobId !== entry.jobId) {
      if (meaning !== 'ended') return;
      entry.jobId = started.jobId;
      await entry.records.writeJobId(started.jobId);
      return;
    }
    if (started && !entry.running) {
      const { startedAt, jobId } = started;
      const nodeID = job?.node || started.node;
      // A record may name any host: the proxy connects only to hosts that Slurm confirms.
      const host = (await this.#addressOf(nodeID)) ?? job?.node;
      if (host) this.#sink?.report(key, { type: 'running', startedAt, nodeID, runID: jobId, host });
      entry.running = Boolean(host);
    }
    if (meaning === 'exiting') this.#sink?.report(key, { type: 'exiting' });
    if (meaning === 'ended') await this.#end(entry, { job, hasStarted: started !== undefined });
  }

  async #limitLog({ logPath, logLimitBytes }: Launch): Promise<void> {
    if (logLimitBytes !== undefined) await tryInThread(this.#storage, () => limitLog(logPath, logLimitBytes));
  }

  async #end(entry: TrackedContainer, seen: Omit<JobEvidence, 'hasRecord'>): Promise<void> {
    const exit = await entry.records.readExit();
    const rejection = await entry.records.readRejection();
    const fault = await entry.records.readFault();
    const evidence = { ...seen, hasRecord: [exit, rejection, fault].some((record) => record !== undefined) };
    const { launch } = entry;
    const kill = () => killJobs(this.#programs, entry);
    if (!(await isJobOver(entry, evidence, { graceMs: parseDuration(this.#config.recordGrace), kill }))) return;
    const state = await findEndState(entry);
    await this.#limitLog(launch).catch(() => undefined);
    this.forget(entry);
    const { stopped } = entry;
    this.#sink?.report(launch.key, {
      type: 'ended',
      endedAt: exit?.endedAt ?? Date.now(),
      end: slurmOutcome({ state, exit, stopped, rejection, fault }),
    });
  }
}

/** Slurm's last known state of the job, or what it has written itself if the job has left the queue unseen. */
async function findEndState({ state, jobId, records }: TrackedContainer): Promise<string | undefined> {
  if (state !== undefined && slurmMeaning(state) === 'ended') return state;
  return (await records.readState(jobId)) ?? state;
}
