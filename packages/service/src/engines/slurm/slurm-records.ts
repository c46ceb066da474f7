import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import { z } from 'zod';
import { LOCAL_STORAGE, type StorageAccess, tryInThread } from '../../storage/storage-access.ts';
import { exists } from '../exists.ts';
import { FAULT_RECORD, REJECTION_RECORD } from './slurm-host-root.ts';
import { CLAIM, EXIT_RECORD, JOB_OUTPUT, START_RECORD } from './slurm-script.ts';
import { stateInOutput } from './state-in-output.ts';

const INTENT = 'slurm-intent';
const JOB = 'slurm-job';
const STOP = 'slurm-stop';
const NODES = 'step-nodes';
const LARGEST_RECORD = 64 * 1024;

/** The ID becomes an argument of Slurm's programs, and the owner of the directory can write any text there. */
const jobIDSchema = z.string().regex(/^\d+$/);
const startSchema = z.looseObject({ node: z.string(), jobId: jobIDSchema });
const exitSchema = z.looseObject({ exitCode: z.number(), asked: z.boolean() });
/** What a job wrote when it started; `startedAt` is the file's time of modification in milliseconds since the epoch. */
export type StartRecord = z.infer<typeof startSchema> & { readonly startedAt: number };
/** What a job wrote when its command ended; `endedAt` is the file's time of modification in milliseconds since the epoch. */
export type ExitRecord = z.infer<typeof exitSchema> & { readonly endedAt: number };

/**
 * The records of a container's job, in the container's own directory on the shared storage. The service writes the intent to
 * submit, the job ID and the stop request; the job writes its claim, start and exit. Incomplete or invalid records are
 * treated as missing. While the storage does not answer, all but `withdrawAbsent` throw `StorageSilent`.
 */
export interface SlurmRecords {
  hasIntent(): Promise<boolean>;
  writeIntent(): Promise<void>;
  readJobId(): Promise<string | undefined>;
  writeJobId(jobId: string): Promise<void>;
  /** The names of the nodes of a step; empty if they are not known. */
  readNodes(): Promise<readonly string[]>;
  writeNodes(names: readonly string[]): Promise<void>;
  isStopped(): Promise<boolean>;
  writeStop(): Promise<void>;
  readStart(): Promise<StartRecord | undefined>;
  readExit(): Promise<ExitRecord | undefined>;
  /** Why the request cannot be met. */
  readRejection(): Promise<string | undefined>;
  /** Why the node could not set up the container. */
  readFault(): Promise<string | undefined>;
  /** What Slurm itself has written about the job's end, as a state of Slurm. */
  readState(jobId: string): Promise<string | undefined>;
  /**
   * Takes the claim in the job's place; true if no job has started. None can start then, except that an `absent` claim can
   * be withdrawn by `withdrawAbsent`.
   */
  claim(as: 'ended' | 'absent'): Promise<boolean>;
  withdrawAbsent(): Promise<void>;
}

/** Accesses the records in `directory` on `storage`; reads and writes nothing yet. */
export function openSlurmRecords(directory: string, storage: StorageAccess = LOCAL_STORAGE): SlurmRecords {
  const path = (name: string) => join(directory, name);
  const ask = <T>(calls: () => Promise<T>) => tryInThread(storage, calls);
  return {
    hasIntent: () => ask(() => exists(path(INTENT))),
    writeIntent: () => ask(() => put(path(INTENT), '')),
    readJobId: () => ask(async () => jobIDSchema.safeParse((await read(path(JOB)))?.trim()).data),
    writeJobId: (jobId) => ask(() => put(path(JOB), jobId)),
    readNodes: () => ask(async () => (await read(path(NODES)))?.split('\n').filter(Boolean) ?? []),
    writeNodes: (names) => ask(() => put(path(NODES), names.join('\n'))),
    isStopped: () => ask(() => exists(path(STOP))),
    writeStop: () => ask(() => put(path(STOP), '')),
    async readStart() {
      const found = await ask(() => readRecord(startSchema, path(START_RECORD)));
      return found && { ...found.record, startedAt: found.writtenAt };
    },
    async readExit() {
      const found = await ask(() => readRecord(exitSchema, path(EXIT_RECORD)));
      return found && { ...found.record, endedAt: found.writtenAt };
    },
    readRejection: () => ask(() => read(path(REJECTION_RECORD))),
    readFault: () => ask(() => read(path(FAULT_RECORD))),
    readState: (jobId) => ask(async () => stateInOutput((await read(path(JOB_OUTPUT))) ?? '', jobId)),
    claim: (as) => ask(() => takeClaim(path(CLAIM), as)),
    // Not given up: later it could concern the claim of a job.
    withdrawAbsent: () =>
      storage.inThread(async () => {
        if ((await read(path(CLAIM))) === 'absent') await rm(path(CLAIM));
      }),
  };
}

async function takeClaim(path: string, as: string): Promise<boolean> {
  try {
    await writeFile(path, as, { flag: 'wx' });
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return (await read(path)) === as;
    throw error;
  }
}

async function put(path: string, text: string): Promise<void> {
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, text, { flush: true, flag: 'wx', mode: 0o600 });
  await rename(fresh, path);
}

/** The directory may belong to the container's user: links are not followed, and only small regular files are read. */
async function readStamped(path: string): Promise<{ text: string; writtenAt: number } | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > LARGEST_RECORD) return undefined;
      return { text: await file.readFile('utf8'), writtenAt: Math.round(stats.mtimeMs) };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ELOOP')) return undefined;
    throw error;
  }
}

async function read(path: string): Promise<string | undefined> {
  return (await readStamped(path))?.text;
}

/** A job's record, and when it was written by the storage's clock, which is the same for all nodes. */
async function readRecord<T>(
  schema: z.ZodType<T>,
  path: string,
): Promise<{ record: T; writtenAt: number } | undefined> {
  const stamped = await readStamped(path);
  // A record ends with a newline; after a crash of the node, or with slow storage, it can be incomplete.
  if (!stamped?.text.endsWith('\n')) return undefined;
  const parsed = schema.safeParse(parseJSON(stamped.text));
  return parsed.success ? { record: parsed.data, writtenAt: stamped.writtenAt } : undefined;
}

function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
