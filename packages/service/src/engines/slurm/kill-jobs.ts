import { type SlurmCommands, SlurmError } from './slurm-commands.ts';
import { slurmJobName } from './slurm-request.ts';
import { STOP_SIGNAL } from './slurm-script.ts';

/** Whether a failure says that the job has ended already; of a signal to such a job `scancel` says nothing at all. */
function saysOver(error: unknown): boolean {
  if (!(error instanceof SlurmError)) return false;
  return error.isSilent || /Invalid job id|already completing or completed/i.test(error.message);
}

/**
 * Cancels every job of the container's name that belongs to one of `owners`: also one that came of a lost submission,
 * whose number we do not know. Jobs of that name that belong to others stay.
 */
export async function killJobs(
  slurm: SlurmCommands,
  { key, owners }: { readonly key: string; readonly owners: ReadonlySet<number> },
): Promise<void> {
  for (const uid of owners) await scancel(slurm, [`--name=${slurmJobName(key)}`, `--user=${uid}`]);
}

/** Asks the script of one job to end its command. Without the name, a number that was given away could mean another job. */
export async function askJob(
  slurm: SlurmCommands,
  { key, jobID }: { readonly key: string; readonly jobID: string },
): Promise<void> {
  await scancel(slurm, [`--name=${slurmJobName(key)}`, '--batch', `--signal=${STOP_SIGNAL}`, jobID]);
}

async function scancel(slurm: SlurmCommands, args: readonly string[]): Promise<void> {
  await slurm.run('scancel', args).catch((error: unknown) => {
    if (!saysOver(error)) throw error;
  });
}
