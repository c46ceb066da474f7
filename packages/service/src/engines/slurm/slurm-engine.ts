import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, EngineError, type EngineSink, type Launch } from '../engine.ts';
import { checkPodmanImage } from '../image-name.ts';
import { sideBySide } from '../side-by-side.ts';
import { checkRuntime } from './check-runtime.ts';
import { checkReachable, handOver } from './hand-over.ts';
import { createSlurmCommands, SlurmError } from './slurm-commands.ts';
import { type SlurmConfig, slurmPlacementSchema } from './slurm-config.ts';
import { slurmHostRoot } from './slurm-host-root.ts';
import { createSlurmNodes } from './slurm-nodes.ts';
import { groupQueue, ownJobs, type SlurmJob, type SlurmQueue, SQUEUE_ARGUMENTS } from './slurm-queue.ts';
import { openSlurmRecords, type SlurmRecords } from './slurm-records.ts';
import { INSIDE_SCRIPT } from './slurm-runtimes.ts';
import { JOB_SCRIPT, STOP_SIGNAL, slurmScript } from './slurm-script.ts';
import { slurmEnd, slurmMeaning } from './slurm-state.ts';
import { isPermanentRefusal, parseJobID, sbatchArguments, slurmJobName } from './slurm-submit.ts';
import { checkMaySwitch, findUnixUser, type UnixUser } from './unix-user.ts';

interface Tracked {
  readonly launch: Launch;
  readonly records: SlurmRecords;
  /** '' of a job that has made the claim and is not yet known by its number. */
  jobID: string;
  stopped: boolean;
  running: boolean;
  /** Slurm's last known state of the job. */
  state: string | undefined;
  reason: string;
  /** When the job was first missed in the queue without an exit record, by a clock that nobody sets. */
  missedAt: number | undefined;
  /** The next try to kill it: the controller may be away when the grace is over. */
  kill: NodeJS.Timeout | undefined;
}

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
  const tracked = new Map<string, Tracked>();
  const launching = new Map<string, Promise<void>>();
  let sink: EngineSink;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> | undefined;

  async function queue(...which: string[]): Promise<SlurmQueue> {
    return groupQueue(await slurm.run('squeue', [...SQUEUE_ARGUMENTS, ...which]));
  }

  function track(launch: Launch, records: SlurmRecords, facts: { jobID: string; stopped: boolean }): void {
    tracked.set(launch.key, {
      launch,
      records,
      ...facts,
      running: false,
      state: undefined,
      reason: '',
      missedAt: undefined,
      kill: undefined,
    });
  }

  /** The job of an earlier submission, whose answer may have been lost. What Slurm says comes before any record. */
  async function findJob(launch: Launch, records: SlurmRecords, jobs: () => Promise<SlurmQueue>) {
    const known = await records.readJobID();
    if (known === undefined && !(await records.hasIntent())) return undefined;
    const ours = await ownJobs(launch, await jobs());
    const job = ours.find(({ jobID }) => jobID === known) ?? ours[0];
    return job?.jobID ?? known ?? (await records.readStart())?.jobID;
  }

  async function submit(launch: Launch, records: SlurmRecords): Promise<string> {
    const placement = slurmPlacementSchema.parse(launch.options);
    if (config.runtime === 'none') {
      for (const name of ['root', 'tmp']) await mkdir(join(launch.directory, name), { recursive: true, mode: 0o700 });
      await records.writeScript(INSIDE_SCRIPT, slurmHostRoot(launch, { maskedPaths }));
    }
    await records.writeScript(JOB_SCRIPT, slurmScript(launch, config));
    await records.writeIntent();
    const user = users.get(launch.accountID);
    if (user) await handOver(launch, user, storage);
    const given = Object.fromEntries(Object.entries(placement).filter(([, value]) => value !== undefined));
    const stdout = await slurm.run('sbatch', sbatchArguments(launch, { ...config, ...given }), user);
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
      track(launch, records, { jobID, stopped: await records.isStopped() });
    } catch (error) {
      if (error instanceof EngineError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      throw new EngineError(isPermanentRefusal(message) ? 'REFUSED' : 'UNAVAILABLE', message, { cause: error });
    }
  }

  /** Reports what a job's state and its records say now. */
  async function settle(entry: Tracked, job: SlurmJob | undefined): Promise<void> {
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
    if (entry.running && meaning === 'running') return;
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
      sink.report(key, { type: 'running', startedAt, nodeID, runID: jobID, host: await addressOf(nodeID) });
      entry.running = true;
    }
    if (meaning === 'exiting') sink.report(key, { type: 'exiting' });
    if (meaning === 'ended') await end(entry, job);
  }

  async function end(entry: Tracked, job: SlurmJob | undefined): Promise<void> {
    const exit = await entry.records.readExit();
    const { stopped, state } = entry;
    const reason = await entry.records.readRefusal();
    if (!exit && !reason && !stopped) {
      entry.missedAt ??= performance.now();
      const mayCome = performance.now() - entry.missedAt < config.recordGraceMs;
      // One answer of squeue that lacks a job proves nothing.
      if (job === undefined && mayCome) return;
      // A job that never started owes no record; one that did may be late with it on shared storage.
      if (!(await entry.records.claim('ended')) && mayCome) return;
    }
    forget(entry);
    sink.report(entry.launch.key, {
      type: 'ended',
      endedAt: exit?.endedAt ?? Date.now(),
      end: reason ? { kind: 'refused', reason } : slurmEnd({ state, exit, stopped }),
    });
  }

  async function tick(): Promise<void> {
    if (tracked.size === 0) return;
    const before = [...tracked.values()];
    const jobs = await queue();
    await sideBySide(before, async (entry) => {
      if (closed) return;
      // A controller that crashed may have forgotten a job and given its number to another.
      const job = jobs.get(entry.launch.key)?.find(({ jobID }) => jobID === entry.jobID);
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

  /** A job that Slurm has forgotten needs no cancelling, and one of another name that has its number is not ours. */
  async function scancel({ launch, jobID }: Tracked, ...args: string[]): Promise<void> {
    await slurm.run('scancel', [`--name=${slurmJobName(launch.key)}`, ...args, jobID]).catch((error: unknown) => {
      if (!/Invalid job id|already completing or completed/i.test(String(error))) throw error;
    });
  }

  async function cancel(entry: Tracked, graceMs: number): Promise<void> {
    // A job that has started is asked by a signal; the records know of it before the next tick does.
    if (!entry.running && !(await entry.records.readStart())) return void (await scancel(entry));
    // Counted from now and not from the answer, for which scancel waits long where the job is suspended and hears nothing.
    killAfter(entry, graceMs);
    await scancel(entry, '--batch', `--signal=${STOP_SIGNAL}`);
  }

  function killAfter(entry: Tracked, ms: number): void {
    const kill = async () => {
      await scancel(entry).catch(() => undefined);
      if (tracked.has(entry.launch.key)) killAfter(entry, KILL_AGAIN_MS);
    };
    entry.kill = setTimeout(() => void kill(), ms).unref();
  }

  function forget(entry: Tracked): void {
    clearTimeout(entry.kill);
    tracked.delete(entry.launch.key);
  }

  return {
    ...(config.runtime === 'podman' && { checkImage: checkPodmanImage }),
    // ch-run mounts everything writable.
    features: config.runtime === 'charliecloud' ? [] : ['read-only-mounts'],

    async open(target) {
      sink = target;
      if (config.unixUsers) await findUsers(config.unixUsers);
      try {
        await slurm.run('sinfo', ['--noheader', '--format=%D']);
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
      await sideBySide(launches, async (launch) => {
        const records = openSlurmRecords(launch.directory);
        const jobID = await findJob(launch, records, async () => jobs);
        // A submission of the earlier service may still be under way: its job must find the place taken.
        if (jobID === undefined && (await records.claim('absent'))) sink.report(launch.key, { type: 'absent' });
        else track(launch, records, { jobID: jobID ?? '', stopped: await records.isStopped() });
      });
      await tick();
    },

    async stop(key, { graceMs }) {
      await launching.get(key)?.catch(() => undefined);
      const entry = tracked.get(key);
      if (!entry || entry.kill) return;
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
      forget(entry);
      await scancel(entry).catch(() => undefined);
    },

    async close() {
      closed = true;
      clearTimeout(timer);
      for (const entry of tracked.values()) clearTimeout(entry.kill);
      await ticking;
    },
  };
}
