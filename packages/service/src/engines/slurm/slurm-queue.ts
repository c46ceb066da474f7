import { keyOfJobName } from './slurm-submit.ts';

/** One of our jobs as `squeue` shows it. */
export interface SlurmJob {
  readonly key: string;
  readonly jobID: string;
  /** Slurm's long state name, for example `PENDING`. */
  readonly state: string;
  readonly node: string;
  /** Why a pending job waits, in Slurm's word (`Resources`, `Priority`). */
  readonly reason: string;
}

/** `%r` comes last since it is the only field that might hold the separator. */
export const SQUEUE_ARGUMENTS: readonly string[] = ['--noheader', '--states=all', '--format=%i|%T|%N|%j|%r'];

/** Parses what `squeue` prints for `SQUEUE_ARGUMENTS`; other people's jobs are left out, and so is what is no job line. */
export function parseQueue(stdout: string): SlurmJob[] {
  const jobs: SlurmJob[] = [];
  for (const line of stdout.split('\n')) {
    const [jobID = '', state = '', node = '', name = '', ...reason] = line.trim().split('|');
    const key = keyOfJobName(name);
    if (key !== undefined && /^\d+$/.test(jobID)) jobs.push({ key, jobID, state, node, reason: reason.join('|') });
  }
  return jobs;
}
