import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Launch } from '../engine.ts';
import { type SlurmCommands, SlurmError } from './slurm-commands.ts';

/** A job in the output of `squeue`. */
export interface SlurmJob {
  /**
   * The last name of its working directory, which is the key of its container if it is ours. The path before it depends on
   * how the storage is mounted, and names and comments are for people.
   */
  readonly key: string;
  readonly jobId: string;
  readonly name: string;
  /** Slurm's long state name, for example `PENDING`. */
  readonly state: string;
  readonly node: string;
  /** The owner's user ID; any user can submit a job with one of our keys. */
  readonly uid: number;
  /** Why a pending job waits, in Slurm's terms (`Resources`, `Priority`). */
  readonly reason: string;
}

/** Includes jobs in hidden partitions, which otherwise only root sees, and jobs that have just ended. */
export const SQUEUE_ARGUMENTS: readonly string[] = ['--noheader', '--all', '--states=all'];

/**
 * The environment that makes `squeue` begin each job, and each of its free texts, with `mark`. Slurm keeps newlines in job
 * names and directories, so without a secret mark any user could inject lines that look like other jobs. It is in the
 * environment because `ps` shows arguments.
 */
export function squeueEnvironment(mark: string): Readonly<Record<string, string>> {
  return { SQUEUE_FORMAT: `${mark}|%i|%T|%N|%U|%r${mark};%j${mark};%Z` };
}

/** The state assigned to entries that have the same job ID: none of them is trusted, and the job remains watched. */
const LISTED_TWICE = 'LISTED_TWICE';

/** Parses the output of `squeue` with `squeueEnvironment(mark)`. Parts of job arrays, which are never ours, are omitted. */
export function parseQueue(stdout: string, mark: string): SlurmJob[] {
  const jobs: SlurmJob[] = [];
  const times = new Map<string, number>();
  for (const entry of stdout.split(`${mark}|`).slice(1)) {
    const [head = '', name = '', directory = ''] = entry.replace(/\n$/, '').split(`${mark};`);
    const [jobId = '', state = '', node = '', uid = '', ...reason] = head.split('|');
    times.set(jobId, (times.get(jobId) ?? 0) + 1);
    if (!/^\d+$/.test(jobId) || !/^\d+$/.test(uid)) continue;
    jobs.push({ key: posix.basename(directory), jobId, name, state, node, uid: Number(uid), reason: reason.join('|') });
  }
  return jobs.map((job) => (times.get(job.jobId) === 1 ? job : { ...job, state: LISTED_TWICE }));
}

/** Jobs by their key. */
export type SlurmQueue = ReadonlyMap<string, readonly SlurmJob[]>;

function groupQueue(stdout: string, mark: string): SlurmQueue {
  const found = new Map<string, SlurmJob[]>();
  for (const job of parseQueue(stdout, mark)) {
    const others = found.get(job.key);
    if (others) others.push(job);
    else found.set(job.key, [job]);
  }
  return found;
}

/** What `squeue` writes about a user that it cannot look up. It omits that user's jobs, and ends with 0. */
export const UNKNOWN_USER: RegExp = /\buser/i;

/**
 * Reads the jobs of some users in Slurm's queue, by user ID: those of others may be many. If Slurm cannot look a user up,
 * for example because a directory service does not answer, all jobs are read, since a missing job would count as ended.
 * Rejects if Slurm does not respond.
 */
export type ReadQueue = (users: Iterable<number>) => Promise<SlurmQueue>;

/**
 * An answer is never older than the call. Calls during a `squeue` share the next one, so that the end of a thousand
 * containers costs the controller two.
 */
export function createQueueReader(slurm: SlurmCommands): ReadQueue {
  let next: { readonly users: Set<number>; readonly answer: Promise<SlurmQueue> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const begin = (users: ReadonlySet<number>) => {
    next = undefined;
    return readQueue(slurm, users);
  };
  return (users) => {
    if (next === undefined) {
      const all = new Set<number>();
      const answer = last.then(() => begin(all));
      last = answer.catch(() => undefined);
      next = { users: all, answer };
    }
    for (const user of users) next.users.add(user);
    return next.answer;
  };
}

async function readQueue(slurm: SlurmCommands, users: ReadonlySet<number>): Promise<SlurmQueue> {
  const mark = randomUUID();
  const options = { env: squeueEnvironment(mark), failsWith: UNKNOWN_USER };
  const read = (...more: string[]) => slurm.run('squeue', [...SQUEUE_ARGUMENTS, ...more], options);
  const stdout = await read(`--user=${[...users].join(',')}`).catch((error: unknown) => {
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

/** The jobs of a container: those of one of `owners` in a directory with its key. */
export function ownJobs(
  queue: SlurmQueue,
  { launch, owners }: { readonly launch: Pick<Launch, 'key'>; readonly owners: ReadonlySet<number> },
): readonly SlurmJob[] {
  return (queue.get(launch.key) ?? []).filter(({ uid }) => owners.has(uid));
}
