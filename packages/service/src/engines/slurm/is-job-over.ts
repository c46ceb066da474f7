import type { TrackedContainer } from './slurm-container.ts';
import type { SlurmJob } from './slurm-queue.ts';

/** What one look has shown of a job that Slurm does not call alive. */
export interface JobEvidence {
  /** Absent: the answer of `squeue` lacked it. */
  readonly job: SlurmJob | undefined;
  /** This job has left a start record. */
  readonly hasStarted: boolean;
  /** There is a record of how the command ended. */
  readonly hasRecord: boolean;
}

export interface JobOverOptions {
  /** How long a record, or the job in the queue, may be late. */
  readonly graceMs: number;
  /** Kills every job of the container; rejects where Slurm does not answer. */
  readonly kill: () => Promise<void>;
}

/**
 * Whether nothing of the container runs, and nothing of it can still start: the job of a lost submission may come at any
 * time, and finds the claim taken.
 */
export async function isJobOver(
  entry: Pick<TrackedContainer, 'stopped' | 'records' | 'missedAt'>,
  { job, hasStarted, hasRecord }: JobEvidence,
  { graceMs, kill }: JobOverOptions,
): Promise<boolean> {
  if (hasRecord && (job !== undefined || !entry.stopped)) return true;
  entry.missedAt ??= performance.now();
  const mayCome = performance.now() - entry.missedAt < graceMs;
  // One answer of squeue that lacks a job proves nothing.
  if (job === undefined && mayCome) return false;
  if (entry.stopped && job === undefined) await kill();
  if (entry.stopped && hasStarted) return true;
  // A job that never started owes no record; one that did may be late with it on shared storage.
  return (await entry.records.claim('ended')) || !mayCome;
}
