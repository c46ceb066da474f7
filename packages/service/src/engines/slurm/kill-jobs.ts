import { STOP_SIGNAL } from './script-lines.ts';
import { type SlurmCommands, SlurmError } from './slurm-commands.ts';
import type { TrackedContainer } from './slurm-container.ts';
import { slurmMeaning } from './slurm-outcome.ts';
import { ownJobs, type ReadQueue, type SlurmJob } from './slurm-queue.ts';
import { slurmJobName } from './slurm-request.ts';

/** The container of a job, and the job that is known of it; `jobId` may be empty. */
type JobsOf = Pick<TrackedContainer, 'launch' | 'owners' | 'jobId'>;
type Target = Pick<SlurmJob, 'jobId' | 'name' | 'uid'>;

/** Slurm's programs, and the queue of the same cluster. */
export interface SlurmPrograms {
  readonly slurm: SlurmCommands;
  readonly readQueue: ReadQueue;
}

/** Whether a failure means that the job has already ended. For a signal to such a job `scancel` prints nothing. */
function saysEnded(error: unknown): boolean {
  if (!(error instanceof SlurmError)) return false;
  return error.isSilent || /Invalid job id|already completing or completed/i.test(error.message);
}

/**
 * Cancels every job of the container: all that the queue lists, including the job of a lost submission, and the one that is
 * known even if the queue lacks it. Jobs of users who are not its owners are not affected.
 */
export async function killJobs(programs: SlurmPrograms, of: JobsOf): Promise<void> {
  for (const job of await findTargets(programs, of)) await scancel(programs, job);
}

/** Signals the script of the job `jobId` to end its command. */
export async function askJob(programs: SlurmPrograms, of: JobsOf): Promise<void> {
  const targets = await findTargets(programs, of);
  for (const job of targets.filter(({ jobId }) => jobId === of.jobId))
    await scancel(programs, job, '--batch', `--signal=${STOP_SIGNAL}`);
}

/** A job whose name may have been changed is found by the name that the queue shows. */
async function findTargets({ readQueue }: SlurmPrograms, of: JobsOf): Promise<readonly Target[]> {
  const listed = ownJobs(await readQueue(of.owners), of);
  const alive = listed.filter(({ state }) => slurmMeaning(state) !== 'ended');
  if (of.jobId === '' || listed.some(({ jobId }) => jobId === of.jobId)) return alive;
  const name = slurmJobName(of.launch);
  return [...alive, ...[...of.owners].map((uid) => ({ jobId: of.jobId, name, uid }))];
}

/**
 * The name and the user are passed too, since a controller that crashed may have given the number to another job. The name
 * alone identifies nothing: all attempts of a cell have it.
 */
async function scancel({ slurm }: SlurmPrograms, { jobId, name, uid }: Target, ...options: string[]): Promise<void> {
  await slurm.run('scancel', [`--name=${name}`, `--user=${uid}`, ...options, jobId]).catch((error: unknown) => {
    if (!saysEnded(error)) throw error;
  });
}
