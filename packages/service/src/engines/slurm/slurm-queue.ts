import { lstat } from 'node:fs/promises';
import type { Launch } from '../engine.ts';
import { keyOfJobName } from './slurm-submit.ts';

/** One of our jobs as `squeue` shows it. */
export interface SlurmJob {
  readonly key: string;
  readonly jobID: string;
  /** Slurm's long state name, for example `PENDING`. */
  readonly state: string;
  readonly node: string;
  /** Whose it is, by number: anybody may give a job one of our names. */
  readonly uid: number;
  /** Why a pending job waits, in Slurm's word (`Resources`, `Priority`). */
  readonly reason: string;
}

/** `%r` comes last since it is the only field that might hold the separator. */
export const SQUEUE_ARGUMENTS: readonly string[] = ['--noheader', '--states=all', '--format=%i|%T|%N|%U|%j|%r'];

/** Parses what `squeue` prints for `SQUEUE_ARGUMENTS`; other people's jobs are left out, and so is what is no job line. */
export function parseQueue(stdout: string): SlurmJob[] {
  const jobs: SlurmJob[] = [];
  for (const line of stdout.split('\n')) {
    const [jobID = '', state = '', node = '', uid = '', name = '', ...reason] = line.trim().split('|');
    const key = keyOfJobName(name);
    if (key === undefined || !/^\d+$/.test(jobID)) continue;
    jobs.push({ key, jobID, state, node, uid: Number(uid), reason: reason.join('|') });
  }
  return jobs;
}

/** Jobs by the key in their name. */
export type SlurmQueue = ReadonlyMap<string, readonly SlurmJob[]>;

/** `parseQueue` by key. */
export function groupQueue(stdout: string): SlurmQueue {
  const byKey = new Map<string, SlurmJob[]>();
  for (const job of parseQueue(stdout)) byKey.set(job.key, [...(byKey.get(job.key) ?? []), job]);
  return byKey;
}

/** The jobs of a container: those of its name that belong to this process's user, or to whom its directory was given. */
export async function ownJobs(
  { key, directory }: Pick<Launch, 'key' | 'directory'>,
  queue: SlurmQueue,
): Promise<readonly SlurmJob[]> {
  const named = queue.get(key) ?? [];
  if (named.length === 0) return named;
  const { uid } = await lstat(directory);
  return named.filter((job) => job.uid === uid || job.uid === process.geteuid?.());
}
