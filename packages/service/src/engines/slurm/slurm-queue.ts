import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { type SlurmCommands, SlurmError } from './slurm-commands.ts';
import { keyOfJobName } from './slurm-request.ts';

/** One of our jobs in the output of `squeue`. */
export interface SlurmJob {
  readonly key: string;
  readonly jobId: string;
  /** Slurm's long state name, for example `PENDING`. */
  readonly state: string;
  readonly node: string;
  /** The owner's user ID; any user can submit a job with one of our names. */
  readonly uid: number;
  /** Why a pending job waits, in Slurm's terms (`Resources`, `Priority`). */
  readonly reason: string;
}

/** Includes jobs in hidden partitions, which otherwise only root sees, and jobs that have just ended. */
export const SQUEUE_ARGUMENTS: readonly string[] = ['--noheader', '--all', '--states=all'];

/**
 * The environment that makes `squeue` begin each job with `mark`. Slurm keeps newlines in job names, so without a secret
 * mark any user could inject lines that look like other jobs. It is in the environment because `ps` shows arguments.
 */
export function squeueEnvironment(mark: string): Readonly<Record<string, string>> {
  return { SQUEUE_FORMAT: `${mark}|%i|%T|%N|%U|%j|%r` };
}

/** The state assigned to entries that have the same job ID: none of them is trusted, and the job remains watched. */
const LISTED_TWICE = 'LISTED_TWICE';

/** Parses the output of `squeue` with `squeueEnvironment(mark)`. Jobs whose name is not one of ours are omitted. */
export function parseQueue(stdout: string, mark: string): SlurmJob[] {
  const jobs: SlurmJob[] = [];
  const times = new Map<string, number>();
  for (const entry of stdout.split(`${mark}|`).slice(1)) {
    const [jobId = '', state = '', node = '', uid = '', name = '', ...reason] = entry.trimEnd().split('|');
    times.set(jobId, (times.get(jobId) ?? 0) + 1);
    const key = keyOfJobName(name);
    if (key === undefined || !/^\d+$/.test(jobId) || !/^\d+$/.test(uid)) continue;
    jobs.push({ key, jobId, state, node, uid: Number(uid), reason: reason.join('|') });
  }
  return jobs.map((job) => (times.get(job.jobId) === 1 ? job : { ...job, state: LISTED_TWICE }));
}

/** Jobs by the key in their name. */
export type SlurmQueue = ReadonlyMap<string, readonly SlurmJob[]>;

/** `parseQueue` by key. */
function groupQueue(stdout: string, mark: string): SlurmQueue {
  const byKey = new Map<string, SlurmJob[]>();
  for (const job of parseQueue(stdout, mark)) byKey.set(job.key, [...(byKey.get(job.key) ?? []), job]);
  return byKey;
}

/** What `squeue` writes about a user that it cannot look up. It omits that user's jobs, and ends with 0. */
const UNKNOWN_USER = /\buser/i;

/**
 * Reads the jobs of some users in Slurm's queue, by user ID: those of others may be many. If Slurm cannot look a user up,
 * for example because a directory service does not answer, all jobs are read, since a missing job would count as ended.
 * Rejects if Slurm does not respond.
 */
export async function readQueue(
  slurm: SlurmCommands,
  users: Iterable<number>,
  ...which: string[]
): Promise<SlurmQueue> {
  const mark = randomUUID();
  const options = { env: squeueEnvironment(mark), failsWith: UNKNOWN_USER };
  const read = (...more: string[]) => slurm.run('squeue', [...SQUEUE_ARGUMENTS, ...more, ...which], options);
  const stdout = await read(`--user=${[...new Set(users)].join(',')}`).catch((error: unknown) => {
    if (error instanceof SlurmError && UNKNOWN_USER.test(error.message)) return read();
    throw error;
  });
  return groupQueue(stdout, mark);
}

/** User IDs whose jobs may belong to a container: this process's user, and the owner of the container's directory. */
export async function jobOwners(directory: string): Promise<ReadonlySet<number>> {
  const { uid } = await lstat(directory);
  return new Set([uid, process.geteuid?.() ?? uid]);
}

/** The jobs of a container: those with its name and one of `owners`. */
export function ownJobs(queue: SlurmQueue, of: { key: string; owners: ReadonlySet<number> }): readonly SlurmJob[] {
  return (queue.get(of.key) ?? []).filter(({ uid }) => of.owners.has(uid));
}
