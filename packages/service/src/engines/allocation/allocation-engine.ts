import { join } from 'node:path';
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
  type Observation,
} from '../engine.ts';
import type { EngineSite } from '../engine-factory.ts';
import { forEachLimit } from '../for-each-limit.ts';
import { claimAbsent, readClaim } from '../process/process-records.ts';
import type { SlurmJobs } from '../slurm/slurm-engine.ts';
import { openAllocationDirectory } from './allocation-directory.ts';
import { AllocationPool } from './allocation-pool.ts';
import { settleContainer } from './settle-container.ts';
import { ALLOCATION_RUNTIMES, type AllocationsOfCluster, suitsAllocation } from './suits-allocation.ts';

/** The longest grace period at the end of an allocation, and the part of its time limit that it is at most. */
const GRACE = { mostMs: 30_000, part: 0.1 };

/** What the engine needs to know of its cluster. */
export type AllocationEngineOptions = Pick<EngineSite, 'clusterID' | 'storage'> &
  Partial<Pick<EngineSite, 'storageAccess'>> & {
    /** When all allocations end, in milliseconds since the epoch. Default: each ends by its own time limit. */
    readonly endsAt?: number | undefined;
    /** As in `AllocationRules`. */
    readonly usesAll?: boolean;
  };

/**
 * Runs containers on Slurm in allocations: jobs whose nodes run many containers. Starting one calls no program of Slurm.
 * What does not suit an allocation becomes a job of its own in `jobs`.
 */
export function createAllocationEngine(
  jobs: SlurmJobs,
  config: AllocationsOfCluster,
  options: AllocationEngineOptions,
): Engine {
  return new AllocationEngine(jobs, config, options);
}

class AllocationEngine implements Engine {
  readonly #jobs: SlurmJobs;
  readonly #suits: (launch: Launch) => boolean;
  readonly #storage: StorageAccess;
  readonly #pool: AllocationPool;
  #sink: EngineSink | undefined;
  #areJobsOpen = false;

  constructor(
    jobs: SlurmJobs,
    config: AllocationsOfCluster,
    {
      clusterID,
      storage,
      storageAccess = LOCAL_STORAGE,
      endsAt = Number.POSITIVE_INFINITY,
      usesAll = false,
    }: AllocationEngineOptions,
  ) {
    const { allocations } = config;
    const mostMs = parseDuration(allocations.timeLimit);
    const idleMs = parseDuration(allocations.idleTimeout);
    const settings = () => {
      const timeLimitMs = Math.max(1, Math.min(mostMs, endsAt - Date.now()));
      return {
        // Others have jobs of their own.
        runtime: ALLOCATION_RUNTIMES.find((one) => one === config.runtime) ?? 'none',
        withoutImage: config.withoutImage,
        nodes: allocations.nodes,
        timeLimitMs,
        graceMs: Math.min(GRACE.mostMs, timeLimitMs * GRACE.part),
        idleMs,
      };
    };
    this.#jobs = jobs;
    this.#storage = storageAccess;
    this.#suits = (launch) => suitsAllocation(launch, config);
    this.#pool = new AllocationPool({
      rules: { ...allocations, idleMs, usesAll },
      settings,
      clusterID,
      jobs,
      directory: openAllocationDirectory(join(storage, 'allocations')),
      storage: storageAccess,
    });
  }

  get features(): readonly Feature[] {
    return [...this.#jobs.features, FEATURES.expectedDurations];
  }

  async open(sink: EngineSink): Promise<void> {
    this.#sink = sink;
    const report = (key: string, observation: Observation) => {
      if (this.#pool.isAllocation(key)) this.#pool.observe(key, observation);
      else sink.report(key, observation);
    };
    // May be called again after a failure.
    if (!this.#areJobsOpen) await this.#jobs.open({ report, answers: (failure) => sink.answers?.(failure) });
    this.#areJobsOpen = true;
    await this.#pool.open(sink);
  }

  models(options: Launch['options']): HardwareModels {
    return this.#jobs.models?.(options) ?? {};
  }

  checkImage(image: string): void {
    this.#jobs.checkImage?.(image);
  }

  checkJob(job: JobRequest, source: JobSource): void {
    this.#jobs.checkJob?.(job, source);
  }

  async launch(launch: Launch): Promise<void> {
    if (this.#pool.repeat(launch)) return;
    if (!this.#suits(launch) || (await this.#jobs.hasJob(launch))) return await this.#jobs.launch(launch);
    // Another call may have added it meanwhile.
    if (!this.#pool.has(launch.key)) this.#pool.add(launch, launch.job?.time?.ms ?? launch.job?.duration);
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    const ofJobs: Launch[] = [];
    await forEachLimit(launches, async (launch) => {
      if (this.#pool.repeat(launch)) return;
      if (!this.#suits(launch) || (await this.#jobs.hasJob(launch))) ofJobs.push(launch);
      else this.#sink?.report(launch.key, await this.#storage.inThread(() => findTrace(launch)));
    });
    await this.#jobs.recover(ofJobs);
  }

  async stop(key: string, options: { graceMs: number }): Promise<void> {
    if (!this.#pool.has(key)) return await this.#jobs.stop(key, options);
    try {
      await this.#pool.stop(key, options);
    } catch (error) {
      const why = `could not stop a container in its allocation: ${(error as Error).message}`;
      throw new EngineError('UNAVAILABLE', why, { cause: error });
    }
  }

  async remove(key: string): Promise<void> {
    await this.#pool.remove(key);
    await this.#jobs.remove(key);
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await this.#jobs.close();
  }
}

/** What the records say of a container that is in no allocation. */
async function findTrace(launch: Launch): Promise<Observation> {
  const end = { kind: 'exited', exitCode: 0 } as const;
  const ended = await settleContainer(launch, { isStopped: false, end, now: Date.now() });
  if (ended !== undefined) return ended;
  const claim = await readClaim(launch.directory);
  if (claim === undefined && !(await claimAbsent(launch.directory))) return await findTrace(launch);
  return { type: 'absent' };
}
