import { createSlurmCommands } from './slurm-commands.ts';
import { parseTimeLimit } from './slurm-models.ts';

/** When a job ends. */
export interface JobLimit {
  /** In milliseconds since the epoch. */
  readonly endsAt: number;
  readonly limitMs: number;
}

/** The time limit of a job that runs; undefined if it has none. Throws an error for the user if it does not run. */
export async function readLimit(jobId: string): Promise<JobLimit | undefined> {
  const args = ['--noheader', '--all', `--jobs=${jobId}`, '--format=%T|%L|%l'];
  const [state, left = '', limit = ''] = (await createSlurmCommands(undefined).run('squeue', args)).trim().split('|');
  if (state !== 'RUNNING') throw new Error('it does not run any more: unset SLURM_JOB_ID');
  const [leftMs, limitMs] = [parseTimeLimit(left), parseTimeLimit(limit)];
  return leftMs === undefined || limitMs === undefined ? undefined : { endsAt: Date.now() + leftMs, limitMs };
}

/** Why Slurm cannot start a job again with its script; undefined if it can. Rejects if Slurm does not answer. */
export async function findRequeueFault(jobId: string): Promise<string | undefined> {
  const shown = await createSlurmCommands(undefined).run('scontrol', ['--oneliner', 'show', 'job', jobId]);
  if (!/ BatchFlag=[1-9]/.test(shown)) return 'it has no script that Slurm could start again: submit one with sbatch';
  return / Requeue=1 /.test(shown) ? undefined : 'Slurm does not start it again: submit it with sbatch --requeue';
}

/** Ends the job, and with it this process, and puts it into the queue again. */
export async function requeueJob(jobId: string): Promise<void> {
  await createSlurmCommands(undefined).run('scontrol', ['requeue', jobId]);
}
