import { type SlurmCommands, SlurmError } from './slurm-commands.ts';
import type { TrackedContainer } from './slurm-container.ts';
import { slurmMeaning } from './slurm-outcome.ts';
import { ownJobs, readQueue } from './slurm-queue.ts';
import { slurmJobName } from './slurm-request.ts';
import { STOP_SIGNAL } from './slurm-script.ts';

/** The container of a job, and the job that is known of it; `jobId` may be empty. */
type JobsOf = Pick<TrackedContainer, 'launch' | 'owners' | 'jobId'>;

/** Whether a failure means that the job has already ended. For a signal to such a job `scancel` prints nothing. */
function saysEnded(error: unknown): boolean {
  if (!(error instanceof SlurmError)) return false;
  return error.isSilent || /Invalid job id|already completing or completed/i.test(error.message);
}

/**
 * Cancels every job of the container: the one that is known, whether or not the queue lists it, and all that the queue lists,
 * including the job of a lost submission. Jobs of users who are not its owners are not affected.
 */
export async function killJobs(slurm: SlurmCommands, of: JobsOf): Promise<void> {
  await signalKnown(slurm, of);
  const known = slurmJobName(of.launch);
  for (const { jobId, name, uid, state } of ownJobs(await readQueue(slurm, of.owners), of)) {
    const isDone = slurmMeaning(state) === 'ended' || (jobId === of.jobId && name === known);
    if (!isDone) await scancel(slurm, [`--name=${name}`, `--user=${uid}`, jobId]);
  }
}

/** Signals the script of the job `jobId` to end its command. */
export async function askJob(slurm: SlurmCommands, of: JobsOf): Promise<void> {
  await signalKnown(slurm, of, '--batch', `--signal=${STOP_SIGNAL}`);
}

/**
 * The name and the user are passed too, since a controller that crashed may have given the number to another job. The name
 * alone identifies nothing: all attempts of a cell have it.
 */
async function signalKnown(slurm: SlurmCommands, of: JobsOf, ...options: string[]): Promise<void> {
  if (of.jobId === '') return;
  for (const uid of of.owners)
    await scancel(slurm, [`--name=${slurmJobName(of.launch)}`, `--user=${uid}`, ...options, of.jobId]);
}

async function scancel(slurm: SlurmCommands, args: readonly string[]): Promise<void> {
  await slurm.run('scancel', args).catch((error: unknown) => {
    if (!saysEnded(error)) throw error;
  });
}
