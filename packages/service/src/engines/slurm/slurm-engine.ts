import { hostname } from 'node:os';
import { basename, dirname } from 'node:path';
import { FEATURES, type Feature, type JobRequest } from '@sluice/client';
import { parseDuration } from '@sluice/core';
import { LOCAL_STORAGE, type StorageAccess } from '../../storage/storage-access.ts';
import {
  type Engine,
  EngineError,
  type EngineSink,
  type HardwareModels,
  type JobSource,
  type Launch,
} from '../engine.ts';
import type { EngineSite } from '../engine-factory.ts';
import { forEachLimit } from '../for-each-limit.ts';
import { checkPodmanImage } from '../image-name.ts';
import { cpuModels } from '../machine-models.ts';
import { tasksOf } from '../tasks-of.ts';
import { checkRuntime, runtimeOf } from './check-runtime.ts';
import { checkReachable, chownToUser } from './chown-to-user.ts';
import { killJobs, type SlurmPrograms } from './kill-jobs.ts';
import { placementOf } from './placement-of.ts';
import { createSlurmCommands, type SlurmCommands } from './slurm-commands.ts';
import { type SlurmConfig, type SlurmPlacement, slurmPlacementSchema } from './slurm-config.ts';
import { createTrackedContainer } from './slurm-container.ts';
import { NODE_ARGUMENTS, partitionLimit, slurmModels } from './slurm-models.ts';
import { checkMpi } from './slurm-mpi.ts';
import { createNodeAddresses, findNodes, type NodeAddresses, type NodePlace } from './slurm-nodes.ts';
import { slurmMeaning } from './slurm-outcome.ts';
import { createQueueReader, jobOwners } from './slurm-queue.ts';
import { openSlurmRecords, type SlurmRecords } from './slurm-records.ts';
import { isPermanentRejection } from './slurm-request.ts';
import { readSlurmSettings, type SlurmSettings } from './slurm-settings.ts';
import { findJob, startJob } from './slurm-start.ts';
import { type TimeLimits, timeLimitOf } from './slurm-time.ts';
import { SlurmWatch } from './slurm-watch.ts';
import { checkMaySwitch, findUnixUser, type UnixUser } from './unix-user.ts';

/** `storage` must be mounted on every node; `maskedPaths` are hidden from containers without an image. */
export type SlurmEngineOptions = Pick<EngineSite, 'storage'> &
  Partial<Pick<EngineSite, 'maskedPaths' | 'storageAccess'>>;

/**
 * Runs containers as jobs of Slurm. One `squeue` per tick reports the state of all jobs. Start and exit are read from
 * records that the job's script writes to the shared storage, so a restart of slurmctld or of the service loses nothing. The
 * constructor starts no work; `open` does.
 */
export function createSlurmEngine(config: SlurmConfig, options: SlurmEngineOptions): SlurmJobs {
  return new SlurmEngine(config, options);
}

/** The engine, and what allocations need of it. */
export interface SlurmJobs extends Engine {
  /** As `launch`, of an allocation: its job gets whole nodes and runs on each an agent (`nodeDirectories`). */
  launchAgent(launch: Launch): Promise<void>;
  /** The most allocations that there may be now. Default: no limit of its own. */
  readonly mostAllocations?: number;
  /** The nodes of a job, from the name that an observation gives them. */
  findNodes(nodeID: string): Promise<readonly (NodePlace | undefined)[]>;
  /** Whether a job was submitted for the container, or may have been. */
  hasJob(launch: Launch): Promise<boolean>;
  /** Gives the files of a container to the Unix user of its account, where accounts have one. */
  giveToUser(launch: Launch): Promise<void>;
  /** Host paths that containers must not see. Throws `EngineError` as long as Slurm does not tell them. */
  findMaskedPaths(): Promise<string[]>;
}

class SlurmEngine implements SlurmJobs {
  readonly #config: SlurmConfig;
  readonly #options: SlurmEngineOptions;
  readonly #storage: StorageAccess;
  readonly #slurm: SlurmCommands;
  readonly #programs: SlurmPrograms;
  readonly #addressOf: NodeAddresses;
  readonly #watch: SlurmWatch;
  readonly #users = new Map<string, UnixUser>();
  readonly #launching = new Map<string, Promise<void>>();
  /** Keys of allocations. */
  readonly #agents = new Set<string>();
  #sink: EngineSink | undefined;
  /** Slurm's description of its nodes, read once by `open`. */
  #nodes = '';
  /** Slurm's own settings; undefined until Slurm has told them. */
  #settings: SlurmSettings | undefined;
  #readingSettings: Promise<SlurmSettings> | undefined;

  constructor(config: SlurmConfig, options: SlurmEngineOptions) {
    this.#config = config;
    this.#options = options;
    this.#storage = options.storageAccess ?? LOCAL_STORAGE;
    this.#slurm = createSlurmCommands(config.confPath);
    this.#programs = { slurm: this.#slurm, readQueue: createQueueReader(this.#slurm) };
    this.#addressOf = createNodeAddresses(this.#slurm);
    this.#watch = new SlurmWatch({
      ...{ programs: this.#programs, addressOf: this.#addressOf },
      ...{ config, storage: this.#storage },
    });
  }

  get features(): readonly Feature[] {
    return [
      FEATURES.jobNames,
      FEATURES.timeLimits,
      FEATURES.slurmOptions,
      FEATURES.multiNode,
      // Charliecloud mounts everything writable.
      ...(this.#config.runtime === 'charliecloud' ? [] : [FEATURES.readOnlyMounts]),
      ...(this.#settings?.limitsMemory === false ? [FEATURES.unlimitedMemory] : []),
    ];
  }

  async open(sink: EngineSink): Promise<void> {
    this.#sink = sink;
    if (this.#config.unixUsers) await this.#findUsers(this.#config.unixUsers);
    try {
      this.#nodes = await this.#slurm.run('sinfo', NODE_ARGUMENTS);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw new EngineError('UNAVAILABLE', `Slurm does not answer: ${String(error)}`, { cause: error });
    }
    await this.#readSettings().catch(() => undefined);
    this.#watch.start(sink);
  }

  models(options: Launch['options']): HardwareModels {
    const { partition = this.#config.partition } = slurmPlacementSchema.safeParse(options).data ?? {};
    return slurmModels(this.#nodes, partition, { hostname: hostname(), models: cpuModels() });
  }

  checkImage(image: string): void {
    if (this.#config.runtime === 'podman') checkPodmanImage(image);
  }

  checkJob(job: JobRequest, source: JobSource): void {
    timeLimitOf(job.time, this.#limitsOf(placementOf(this.#config, { ...source, job })));
  }

  async launch(launch: Launch): Promise<void> {
    const { key } = launch;
    const inFlight = this.#launching.get(key) ?? this.#start(launch).finally(() => this.#launching.delete(key));
    this.#launching.set(key, inFlight);
    await inFlight;
  }

  async launchAgent(launch: Launch): Promise<void> {
    this.#agents.add(launch.key);
    await this.launch(launch);
  }

  async findNodes(nodeID: string): Promise<readonly (NodePlace | undefined)[]> {
    return await findNodes(nodeID, { slurm: this.#slurm, addressOf: this.#addressOf });
  }

  async hasJob({ directory }: Launch): Promise<boolean> {
    return await openSlurmRecords(directory, this.#storage).hasIntent();
  }

  async giveToUser(launch: Launch): Promise<void> {
    const user = this.#userOf(launch);
    const { storage } = this.#options;
    if (user !== undefined) await this.#storage.inThread(() => chownToUser(launch, user, storage));
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    if (launches.length === 0) return;
    const owners = await Promise.all(launches.map((launch) => this.#ownersOf(launch)));
    const jobs = await this.#programs.readQueue(owners.flatMap((uids) => [...uids]));
    await forEachLimit(launches, async (launch) => {
      const records = openSlurmRecords(launch.directory, this.#storage);
      const jobId = await findJob(launch, records, async () => jobs);
      // A submission of the earlier service may still be in progress: its job exits if the claim is taken.
      if (jobId === undefined && (await records.claim('absent'))) this.#sink?.report(launch.key, { type: 'absent' });
      else
        this.#watch.track(
          await createTrackedContainer(launch, { records, jobId: jobId ?? '', storage: this.#storage }),
        );
    });
    await this.#watch.tick();
  }

  async stop(key: string, { graceMs }: { graceMs: number }): Promise<void> {
    await this.#launching.get(key)?.catch(() => undefined);
    const container = this.#watch.get(key);
    const killAt = performance.now() + graceMs;
    if (!container || (container.kill && killAt >= container.killAt)) return;
    container.killAt = killAt;
    // If the storage does not give the record, Slurm's last answer decides: a stop does not wait for a storage.
    const hasEnded = await container.records.readExit().then(
      (exit) => exit !== undefined,
      () => container.state !== undefined && slurmMeaning(container.state) === 'ended',
    );
    if (hasEnded) {
      // A container that has already ended keeps its own outcome; but the record does not prove that its job has ended.
      this.#watch.killAfter(container, graceMs);
      return;
    }
    container.stopped = true;
    // Best effort: the disk may be full, possibly because of this container, or the storage may not answer.
    await container.records.writeStop().catch(() => undefined);
    await this.#watch.cancel(container, graceMs).catch((error: unknown) => {
      if (!this.#watch.get(key)) return;
      throw new EngineError('UNAVAILABLE', `could not cancel job ${container.jobId}: ${String(error)}`, {
        cause: error,
      });
    });
  }

  async remove(key: string): Promise<void> {
    this.#agents.delete(key);
    const container = this.#watch.get(key);
    if (!container) return;
    await killJobs(this.#programs, container);
    this.#watch.forget(container);
  }

  async close(): Promise<void> {
    await this.#watch.close();
  }

  /** Asks for the settings until Slurm has told them once. */
  async #readSettings(): Promise<SlurmSettings> {
    if (this.#settings !== undefined) return this.#settings;
    this.#readingSettings ??= readSlurmSettings(this.#slurm).finally(() => {
      this.#readingSettings = undefined;
    });
    this.#settings = await this.#readingSettings;
    return this.#settings;
  }

  /** What is hidden from containers. Throws as long as Slurm does not tell where a socket is that they must not see. */
  async findMaskedPaths(): Promise<string[]> {
    const paths = this.#options.maskedPaths ?? [];
    const { runtime, withoutImage } = this.#config;
    // In an image, nothing of the node is visible.
    if (runtime !== 'none' && withoutImage !== 'node') {
      await this.#readSettings().catch(() => undefined);
      return [...paths];
    }
    const settings = await this.#readSettings().catch((error: unknown) => {
      const what = `could not read the settings of Slurm, which say where the socket of Munge is that containers must not see`;
      throw new EngineError('UNAVAILABLE', `${what}: ${(error as Error).message}`, { cause: error });
    });
    return [...paths, ...mungePaths(settings)];
  }

  #limitsOf({ timeLimit, partition }: SlurmPlacement): TimeLimits {
    const ofPartition = partitionLimit(this.#nodes, partition);
    return { configured: timeLimit === undefined ? undefined : parseDuration(timeLimit), ofPartition };
  }

  #ownersOf({ directory }: Launch): Promise<ReadonlySet<number>> {
    return this.#storage.inThread(() => jobOwners(directory));
  }

  async #findUsers(names: Readonly<Record<string, string>>): Promise<void> {
    checkMaySwitch();
    await checkReachable(this.#options.storage);
    for (const [accountID, name] of Object.entries(names)) this.#users.set(accountID, await findUnixUser(name));
  }

  async #start(launch: Launch): Promise<void> {
    if (this.#watch.get(launch.key)) return;
    const records = openSlurmRecords(launch.directory, this.#storage);
    const readOwnQueue = async () => await this.#programs.readQueue(await this.#ownersOf(launch));
    try {
      const jobId = (await findJob(launch, records, readOwnQueue)) ?? (await this.#submit(launch, records));
      await records.writeJobId(jobId);
      this.#watch.track(await createTrackedContainer(launch, { records, jobId, storage: this.#storage }));
    } catch (error) {
      const failure = asEngineError(error);
      // The container ends with a rejection, so that no job of an earlier submission may start later, or have started.
      if (failure.code !== 'REJECTED' || (await records.claim('ended'))) throw failure;
      throw new EngineError('UNAVAILABLE', `a job of the container has started: ${failure.message}`, { cause: error });
    }
  }

  /** Submits a job. Its request is checked only now: a job of an earlier submission is not rejected. */
  async #submit(launch: Launch, records: SlurmRecords): Promise<string> {
    await records.withdrawAbsent();
    const isAgent = this.#agents.has(launch.key);
    if (!isAgent) checkRuntime(launch, this.#config);
    const { options: ofType, limits, job } = launch;
    const placement = placementOf(this.#config, {
      options: ofType,
      gpus: limits.gpus / tasksOf(launch).count,
      job,
    });
    checkMpi(launch, { runtime: runtimeOf(launch, this.#config), mpi: placement.mpi });
    const minutes = timeLimitOf(job?.time, this.#limitsOf(placement));
    const user = this.#userOf(launch);
    const maskedPaths = await this.findMaskedPaths();
    const { storage } = this.#options;
    const options = {
      slurm: this.#slurm,
      config: this.#config,
      storage,
      maskedPaths,
      user,
      placement,
      minutes,
      isAgent,
    };
    return await startJob(launch, records, options);
  }

  /** Undefined where all jobs run as the service's own user. */
  #userOf({ accountID }: Launch): UnixUser | undefined {
    const user = this.#users.get(accountID);
    if (this.#config.unixUsers && user === undefined) {
      const why = `no Unix user is configured for it: add it to 'unixUsers' and restart the service`;
      throw new EngineError('REJECTED', `could not run a job for account '${accountID}': ${why}`);
    }
    return user;
  }
}

function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new EngineError(isPermanentRejection(message) ? 'REJECTED' : 'UNAVAILABLE', message, { cause: error });
}

/**
 * What hides Munge's socket, which would let a container submit jobs: its directory, if it is Munge's own, since a restarted
 * Munge creates a new socket there.
 */
function mungePaths({ mungeSocket }: SlurmSettings): string[] {
  if (mungeSocket === undefined) return [];
  return [basename(dirname(mungeSocket)).includes('munge') ? dirname(mungeSocket) : mungeSocket];
}
