import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import type { SlurmCommands } from './slurm-commands.ts';
import { keyOfJobName } from './slurm-request.ts';

/** One of our jobs as `squeue` shows it. */
export interface SlurmJob {
  readonly key: string;
  readonly jobID: string;
  /** Slurm's long state name, for example `PENDING`. */
  readonly state: string;
  readonly node: string;
  /** Whose it is, by number: any user may give a job one of our names. */
  readonly uid: number;
  /** Why a pending job waits, in Slurm's word (`Resources`, `Priority`). */
  readonly reason: string;
}

/** Also jobs in hidden partitions, which only root sees otherwise, and those that have just ended. */
export const SQUEUE_ARGUMENTS: readonly string[] = ['--noheader', '--all', '--states=all'];

/**
 * The environment in which `squeue` begins each job with `mark`. Slurm keeps newlines in job names, so without it any
 * user can write lines that look like jobs of others. The mark is in the environment since arguments show in `ps`.
 */
export function squeueEnvironment(mark: string): Readonly<Record<string, string>> {
  return { SQUEUE_FORMAT: `${mark}|%i|%T|%N|%U|%j|%r` };
}

/** The state given to both of two entries with one job ID: neither is believed, and the job stays watched. */
const LISTED_TWICE = 'LISTED_TWICE';

/** Parses what `squeue` prints for `squeueEnvironment(mark)`; what is no job of ours by its name is left out. */
export function parseQueue(stdout: string, mark: string): SlurmJob[] {
  const jobs: SlurmJob[] = [];
  const times = new Map<string, number>();
  for (const entry of stdout.split(`${mark}|`).slice(1)) {
    const [jobID = '', state = '', node = '', uid = '', name = '', ...reason] = entry.trimEnd().split('|');
    times.set(jobID, (times.get(jobID) ?? 0) + 1);
    const key = keyOfJobName(name);
    if (key === undefined || !/^\d+$/.test(jobID) || !/^\d+$/.test(uid)) continue;
    jobs.push({ key, jobID, state, node, uid: Number(uid), reason: reason.join('|') });
  }
  return jobs.map((job) => (times.get(job.jobID) === 1 ? job : { ...job, state: LISTED_TWICE }));
}

/** Jobs by the key in their name. */
export type SlurmQueue = ReadonlyMap<string, readonly SlurmJob[]>;

/** `parseQueue` by key. */
function groupQueue(stdout: string, mark: string): SlurmQueue {
  const byKey = new Map<string, SlurmJob[]>();
  for (const job of parseQueue(stdout, mark)) byKey.set(job.key, [...(byKey.get(job.key) ?? []), job]);
  return byKey;
}

/** Asks Slurm for its queue, or for a part of it by arguments of `squeue`. */
export async function readQueue(slurm: SlurmCommands, ...which: string[]): Promise<SlurmQueue> {
  const mark = randomUUID();
  const env = squeueEnvironment(mark);
  return groupQueue(await slurm.run('squeue', [...SQUEUE_ARGUMENTS, ...which], { env }), mark);
}

/** Whose jobs may be a container's: this process's user, and the one to whom its directory was given. */
export async function jobOwners(directory: string): Promise<ReadonlySet<number>> {
  const { uid } = await lstat(directory);
  return new Set([uid, process.geteuid?.() ?? uid]);
}

/** The jobs of a container: those of its name that belong to one of `owners`. */
export function ownJobs(queue: SlurmQueue, of: { key: string; owners: ReadonlySet<number> }): readonly SlurmJob[] {
  return (queue.get(of.key) ?? []).filter(({ uid }) => of.owners.has(uid));
}
