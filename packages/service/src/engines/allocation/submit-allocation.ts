import { EngineError } from '../engine.ts';
import type { SlurmJobs } from '../slurm/slurm-engine.ts';
import type { Allocation } from './allocation.ts';

/**
 * Submits the job of an allocation. Resolves to why that must be tried again, with the same allocation: the reply of this try
 * may be lost. One that Slurm rejects has ended.
 */
export async function submitAllocation(allocation: Allocation, jobs: SlurmJobs): Promise<string | undefined> {
  allocation.submission = 'begun';
  try {
    await jobs.launchAgent(allocation.launch);
    allocation.submission = 'done';
    return undefined;
  } catch (error) {
    const isRejected = error instanceof EngineError && error.code !== 'UNAVAILABLE';
    allocation.submission = isRejected ? 'done' : 'needed';
    const reason = error instanceof Error ? error.message : String(error);
    if (!isRejected) return reason;
    allocation.end = { kind: 'rejected', reason };
    return undefined;
  }
}
