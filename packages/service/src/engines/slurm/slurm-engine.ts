import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Engine, EngineError, type EngineSink, type Launch } from '../engine.ts';
import { forEachLimit } from '../for-each-limit.ts';
import { checkPodmanImage } from '../image-name.ts';
import { limitLog } from '../limit-log.ts';
import { cpuModels } from '../machine-models.ts';
import { checkRuntime } from './check-runtime.ts';
import { checkReachable, handOver } from './hand-over.ts';
import { isJobOver, type JobEvidence } from './is-job-over.ts';
import { askJob, killJobs } from './kill-jobs.ts';
import { createSlurmCommands, SlurmError } from './slurm-commands.ts';
import { type SlurmConfig, slurmPlacementSchema } from './slurm-config.ts';
import type { TrackedJob } from './slurm-container.ts';
import { slurmHostRoot } from './slurm-host-root.ts';
import { NODE_ARGUMENTS, slurmModels } from './slurm-models.ts';
import { createSlurmNodes } from './slurm-nodes.ts';
import { slurmMeaning, slurmOutcome } from './slurm-outcome.ts';
import {
  groupQueue,
  jobOwners,
  ownJobs,
  type SlurmJob,
  type SlurmQueue,
  SQUEUE_ARGUMENTS,
  squeueEnvironment,
} from './slurm-queue.ts';
import { openSlurmRecords, type SlurmRecords } from './slurm-records.ts';
import { isPermanentRefusal, parseJobID, sbatchArguments, slurmJobName } from './slurm-request.ts';
import { INSIDE_SCRIPT } from './slurm-runtimes.ts';
import { JOB_SCRIPT, slurmScript } from './slurm-script.ts';
import { checkMaySwitch, findUnixUser, type UnixUser } from './unix-user.ts';

/** How long until a job that was killed and is still there is killed again. */
const KILL_AGAIN_MS = 5000;

export interface SlurmEngineOptions {
  /** Where the cluster keeps its containers and volumes, on every node. */
  readonly storage: string;
  /** Host paths that containers of the runtime `none` must not see. */
  readonly maskedPaths?: readonly string[];
}

/**
 * Containers as jobs of Slurm. One `squeue` per tick tells the state of all; the records that the job's script leaves
 * on the shared storage tell start and exit, so neither a restart of slurmctld nor one of the service loses anything.
 */
export function createSlurmEngine(config: SlurmConfig, { storage, maskedPaths = [] }: SlurmEngineOptions): Engine {
  const slurm = createSlurmCommands(config.confPath);
  const addressOf = createSlurmNodes(slurm);
  const users = new Map<string, UnixUser>();
  const tracked = new Map<string, TrackedJob>();
  const launching = new Map<string, Promise<void>>();
  let sink: EngineSink;
  let closed = false;
  /** What Slurm said of its nodes when it was first asked. */
  let nodes = '';
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> | undefined;

  async function queue(...which: string[]): Promise<SlurmQueue> {
    const mark = randomUUID();
    return groupQueue(
      await slurm.run('squeue', [...SQUEUE_ARGUMENTS, ...which], { env: squeueEnvironment(mark) }),
      mark,
    );
  }

  async function track(launch: Launch, records: SlurmRecords, jobID: string): Promise<void> {
    tracked.set(launch.key, {
      launch,
      records,
      owners: await jobOwners(launch.directory),
      jobID,
      stopped: await records.isStopped(),
      running: false,
      state: undefined,
      reason: '',
      missedAt: undefined,
      kill: undefined,
      killAt: Number.POSITIVE_INFINITY,
    });
  }

  /** The job of an earlier submission, whose answer may have been lost. What Slurm says comes before any record. */
  async function findJob(launch: Launch, records: SlurmRecords, jobs: () => Promise<SlurmQueue>) {
    const known = await records.readJobID();
    if (known === undefined && !(await records.hasIntent())) return undefined;
    const ours = ownJobs(await jobs(), { key: launch.key, owners: await jobOwners(launch.directory) });
    const job = ours.find(({ jobID }) => jobID === known) ?? ours[0];
    return job?.jobID ?? known ?? (await records.readStart())?.jobID;
  }

  async function submit(launch: Launch, records: SlurmRecords): Promise<string> {
    const placement = slurmPlacementSchema.parse(launch.options);
    const user = users.get(launch.accountID);
    if (config.runtime === 'none') {
      const isRoot = user === undefined && process.geteuid?.() === 0;
      for (const name of ['root', 'tmp']) await mkdir(join(launch.directory, name), { recursive: true, mode: 0o700 });
      await records.writeScript(INSIDE_SCRIPT, slurmHostRoot(launch, { maskedPaths, isRoot }));
    }
    await records.writeScript(JOB_SCRIPT, slurmScript(launch, config));
    await records.writeIntent();
    if (user) await handOver(launch, user, storage);
    const given = Object.fromEntries(Object.entries(placement).filter(([, value]) => value !== undefined));
    const stdout = await slurm.run('sbatch', sbatchArguments(launch, { ...config, ...given }), { user });
    const jobID = parseJobID(stdout);
    if (jobID === undefined) throw new SlurmError(`sbatch: its answer is no job number: ${stdout.slice(0, 200)}`);
    return jobID;
  }

  async function findUsers(names: Readonly<Record<string, string>>): Promise<void> {
    checkMaySwitch();
    await checkReachable(storage);
    for (const [accountID, name] of Object.entries(names)) users.set(accountID, await findUnixUser(name));
  }

  async function start(launch: Launch): Promise<void> {
    if (tracked.has(launch.key)) return;
    checkRuntime(launch, config);
    if (config.unixUsers && !users.has(launch.accountID)) {
      const why = `no Unix user is configured for it: add it to 'unixUsers' and restart the service`;
      throw new EngineError('REFUSED', `could not run a job of account ${launch.accountID}: ${why}`);
    }
    const records = openSlurmRecords(launch.directory);
    try {
      const named = () => queue(`--name=${slurmJobName(launch.key)}`);
      const found = await findJob(launch, records, named);
      if (found === undefined) await records.withdrawAbsent();
      const jobID = found ?? (await submit(launch, records));
      await records.writeJobID(jobID);
      await track(launch, records, jobID);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      throw new EngineError(isPermanentRefusal(message) ? 'REFUSED' : 'UNAVAILABLE', message, { cause: error });
    }
  }

  /** Reports what a job's state and its records say now. */
  async function settle(entry: TrackedJob, job: SlurmJob | undefined): Promise<void> {
    const { key } = entry.launch;
    if (job) entry.state = job.state;
    const meaning = job ? slurmMeaning(job.state) : 'ended';
    if (meaning !== 'ended') entry.missedAt = undefined;
    if (job && meaning === 'pending') {
      const reason = `queued in Slurm as job ${job.jobID}: ${job.reason}`;
      if (reason !== entry.reason) sink.report(key, { type: 'pending', reason });
      entry.reason = reason;
      return;
    }
    // Its records have told all that they can tell until it ends.
    if (entry.running && meaning === 'running') return await limitLog(entry.launch.logPath, entry.launch.logLimitBytes);
    const started = await entry.records.readStart();
    // Two jobs for one container: the one that holds the claim is the container, and the other one ends at once. No
    // record makes us turn from a job that still runs.
    if (started && started.jobID !== entry.jobID) {
      if (meaning !== 'ended') return;
      entry.jobID = started.jobID;
      await entry.records.writeJobID(started.jobID);
      return;
    }
    if (started && !entry.running) {
      const { startedAt, jobID } = started;
      const nodeID = job?.node || started.node;
      // A record may name any host: without Slurm's word nothing is led there.
      const host = (await addressOf(nodeID)) ?? job?.node;
      if (host) sink.report(key, { type: 'running', startedAt, nodeID, runID: jobID, host });
      entry.running = Boolean(host);
    }
    if (meaning === 'exiting') sink.report(key, { type: 'exiting' });
    if (meaning === 'ended') await end(entry, { job, hasStarted: started !== undefined });
  }

  async function end(entry: TrackedJob, seen: Omit<JobEvidence, 'hasRecord'>): Promise<void> {
    const exit = await entry.records.readExit();
    const reason = await entry.records.readRefusal();
    const evidence = { ...seen, hasRecord: exit !== undefined || reason !== undefined };
    const { launch, owners } = entry;
    const kill = () => killJobs(slurm, { key: launch.key, owners });
    if (!(await isJobOver(entry, evidence, { graceMs: config.recordGraceMs, kill }))) return;
    await limitLog(launch.logPath, launch.logLimitBytes).catch(() => undefined);
    forget(entry);
    const { stopped, state } = entry;
    sink.report(launch.key, {
      type: 'ended',
      endedAt: exit?.endedAt ?? Date.now(),
      end: reason ? { kind: 'refused', reason } : slurmOutcome({ state, exit, stopped }),
    });
  }

  async function tick(): Promise<void> {
    if (tracked.size === 0) return;
    const before = [...tracked.values()];
    const jobs = await queue();
    await forEachLimit(before, async (entry) => {
      if (closed) return;
      // A controller that crashed may have forgotten a job and given its number to another.
      const ours = ownJobs(jobs, { key: entry.launch.key, owners: entry.owners });
      const job = ours.find(({ jobID }) => jobID === entry.jobID);
      // Storage that fails one container is no reason to leave the others alone: the next tick looks again.
      await settle(entry, job).catch(() => undefined);
    });
  }

  function schedule(): void {
    timer = setTimeout(() => {
      // Slurm's controller may be away: the jobs run on, and the next tick asks again.
      ticking = tick()
        .catch(() => undefined)
        .finally(() => {
          if (!closed) schedule();
        });
    }, config.pollMs);
  }

  async function cancel(entry: TrackedJob, graceMs: number): Promise<void> {
    const { key } = entry.launch;
    // A job that has started is asked by a signal; the records know of it before the next tick does.
    const started = await entry.records.readStart();
    if (graceMs === 0 || (!started && !entry.running)) {
      killAfter(entry, KILL_AGAIN_MS);
      return await killJobs(slurm, { key, owners: entry.owners });
    }
    // Counted from now and not from the answer, for which scancel waits long where the job is suspended and hears nothing.
    killAfter(entry, graceMs);
    await askJob(slurm, { key, jobID: started?.jobID ?? entry.jobID });
  }

  /** Kills again and again, until the job's end is known. */
  function killAfter(entry: TrackedJob, ms: number): void {
    const { key } = entry.launch;
    const kill = async () => {
      await killJobs(slurm, { key, owners: entry.owners }).catch(() => undefined);
      if (tracked.has(key)) killAfter(entry, KILL_AGAIN_MS);
    };
    clearTimeout(entry.kill);
    entry.kill = setTimeout(() => void kill(), ms).unref();
  }

  function forget(entry: TrackedJob): void {
    clearTimeout(entry.kill);
    tracked.delete(entry.launch.key);
  }

  return {
    ...(config.runtime === 'podman' && { checkImage: checkPodmanImage }),
    // ch-run mounts everything writable.
    features: config.runtime === 'charliecloud' ? [] : ['read-only-mounts'],

    models(options) {
      const { partition = config.partition } = slurmPlacementSchema.safeParse(options).data ?? {};
      return slurmModels(nodes, partition, { hostname: hostname(), models: cpuModels() });
    },

    async open(target) {
      sink = target;
      if (config.unixUsers) await findUsers(config.unixUsers);
      try {
        nodes = await slurm.run('sinfo', NODE_ARGUMENTS);
      } catch (error) {
        if (error instanceof EngineError) throw error;
        throw new EngineError('UNAVAILABLE', `Slurm does not answer: ${String(error)}`, { cause: error });
      }
      schedule();
    },

    async launch(launch) {
      const under = launching.get(launch.key) ?? start(launch).finally(() => launching.delete(launch.key));
      launching.set(launch.key, under);
      await under;
    },

    async recover(launches) {
      if (launches.length === 0) return;
      const jobs = await queue();
      await forEachLimit(launches, async (launch) => {
        const records = openSlurmRecords(launch.directory);
        const jobID = await findJob(launch, records, async () => jobs);
        // A submission of the earlier service may still be under way: its job must find the place taken.
        if (jobID === undefined && (await records.claim('absent'))) sink.report(launch.key, { type: 'absent' });
        else await track(launch, records, jobID ?? '');
      });
      await tick();
    },

    async stop(key, { graceMs }) {
      await launching.get(key)?.catch(() => undefined);
      const entry = tracked.get(key);
      const killAt = performance.now() + graceMs;
      if (!entry || (entry.kill && killAt >= entry.killAt)) return;
      entry.killAt = killAt;
      if (await entry.records.readExit()) {
        // What has ended by itself keeps its own verdict; but a record alone does not keep a job alive.
        killAfter(entry, graceMs);
        return;
      }
      entry.stopped = true;
      // Best effort: what is to be stopped may be what fills the disk.
      await entry.records.writeStop().catch(() => undefined);
      await cancel(entry, graceMs).catch((error: unknown) => {
        if (!tracked.has(key)) return;
        throw new EngineError('UNAVAILABLE', `job ${entry.jobID} cannot be cancelled: ${String(error)}`, {
          cause: error,
        });
      });
    },

    async remove(key) {
      const entry = tracked.get(key);
      if (!entry) return;
      await killJobs(slurm, { key, owners: entry.owners });
      forget(entry);
    },

    async close() {
      closed = true;
      clearTimeout(timer);
      for (const entry of tracked.values()) clearTimeout(entry.kill);
      await ticking;
    },
  };
}
