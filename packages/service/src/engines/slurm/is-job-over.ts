import type { TrackedContainer } from './slurm-container.ts';
import type { SlurmJob } from './slurm-queue.ts';

/** What is known about a job that Slurm does not report as alive. */
export interface JobEvidence {
  /** Undefined: the output of `squeue` did not contain it. */
  readonly job: SlurmJob | undefined;
  /** This job has written a start record. */
  readonly hasStarted: boolean;
  /** An exit record exists. */
  readonly hasRecord: boolean;
}

/** How to decide when the evidence is incomplete. */
export interface JobOverOptions {
  /** How long a record, or the job's appearance in the queue, may be delayed. */
  readonly graceMs: number;
  /** Kills every job of the container; rejects if Slurm does not respond. */
  readonly kill: () => Promise<void>;
}

/**
 * Whether no process of the container runs or can still start. The job of a lost submission may appear at any time; it exits
 * if the claim is taken.
 */
export async function isJobOver(
  entry: Pick<TrackedContainer, 'stopped' | 'records' | 'missedAt'>,
  { job, hasStarted, hasRecord }: JobEvidence,
  { graceMs, kill }: JobOverOptions,
): Promise<boolean> {
  if (hasRecord && (job !== undefined || !entry.stopped)) return true;
  entry.missedAt ??= performance.now();
  const mayCome = performance.now() - entry.missedAt < graceMs;
  // A single output of squeue without the job proves nothing.
  if (job === undefined && mayCome) return false;
  if (entry.stopped && job === undefined) await kill();
  if (entry.stopped && hasStarted) return true;
  // A job that never started writes no record; the record of one that started may be delayed on shared storage.
  return (await entry.records.claim('ended')) || !mayCome;
}
