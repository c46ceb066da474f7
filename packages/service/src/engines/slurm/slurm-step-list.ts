import type { SlurmCommands } from './slurm-commands.ts';
import { slurmMeaning } from './slurm-outcome.ts';
import { SQUEUE_ARGUMENTS, UNKNOWN_USER } from './slurm-queue.ts';

/** A step in the output of `squeue`. */
export interface SlurmStep {
  /** `JOB.STEP`. */
  readonly id: string;
  readonly node: string;
}

/** The steps of this user that Slurm has not confirmed to be ended, by name. Rejects if Slurm does not answer. */
export async function listSteps(slurm: SlurmCommands): Promise<ReadonlyMap<string, SlurmStep>> {
  return parseSteps(await askOwn(slurm, ['--steps', '--format=%i|%j|%N']));
}

/** Whether Slurm has confirmed that a job of this user has ended, or has forgotten it. Rejects if Slurm does not answer. */
export async function hasJobEnded(slurm: SlurmCommands, jobId: string): Promise<boolean> {
  const lines = (await askOwn(slurm, ['--format=%i|%T'])).split('\n').map((line) => line.trim().split('|'));
  const state = lines.find(([id]) => id === jobId)?.[1];
  return state === undefined || slurmMeaning(state) === 'ended';
}

async function askOwn(slurm: SlurmCommands, args: readonly string[]): Promise<string> {
  const user = `--user=${process.geteuid?.() ?? 0}`;
  return await slurm.run('squeue', [...SQUEUE_ARGUMENTS, user, ...args], { failsWith: UNKNOWN_USER });
}

/** Lines that are no step are left out. */
export function parseSteps(stdout: string): ReadonlyMap<string, SlurmStep> {
  const steps = new Map<string, SlurmStep>();
  for (const line of stdout.split('\n')) {
    const [, id, name, node] = /^\s*(\d+(?:\+\d+)?\.\d+)\|(.*)\|([^|]*)$/.exec(line) ?? [];
    if (id !== undefined && name !== undefined && node !== undefined) steps.set(name, { id, node });
  }
  return steps;
}
