import { type SlurmCommands, SlurmError } from './slurm-commands.ts';
import { slurmJobName } from './slurm-request.ts';
import { STOP_SIGNAL } from './slurm-script.ts';

/** Whether a failure means that the job has already ended. For a signal to such a job `scancel` prints nothing. */
function saysEnded(error: unknown): boolean {
  if (!(error instanceof SlurmError)) return false;
  return error.isSilent || /Invalid job id|already completing or completed/i.test(error.message);
}

/**
 * Cancels every job with the container's name that belongs to one of `owners`, including the job of a lost submission, whose
 * ID is unknown. Jobs of other users are not affected.
 */
export async function killJobs(
  slurm: SlurmCommands,
  { key, owners }: { readonly key: string; readonly owners: ReadonlySet<number> },
): Promise<void> {
  for (const uid of owners) await scancel(slurm, [`--name=${slurmJobName(key)}`, `--user=${uid}`]);
}

/**
 * Signals one job's script to end its command. The name is passed too, since the ID may have been reused for another job.
 */
export async function askJob(
  slurm: SlurmCommands,
  { key, jobId }: { readonly key: string; readonly jobId: string },
): Promise<void> {
  await scancel(slurm, [`--name=${slurmJobName(key)}`, '--batch', `--signal=${STOP_SIGNAL}`, jobId]);
}

async function scancel(slurm: SlurmCommands, args: readonly string[]): Promise<void> {
  await slurm.run('scancel', args).catch((error: unknown) => {
    if (!saysEnded(error)) throw error;
  });
}
