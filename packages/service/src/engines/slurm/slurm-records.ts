import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import { z } from 'zod';
import { exists } from '../exists.ts';
import { REFUSAL_RECORD } from './slurm-host-root.ts';
import { CLAIM, EXIT_RECORD, START_RECORD } from './slurm-script.ts';

const INTENT = 'slurm-intent';
const JOB = 'slurm-job';
const STOP = 'slurm-stop';
const LARGEST_RECORD = 64 * 1024;

/** It becomes an argument of Slurm's programs, and the user of the directory may have written anything there. */
const jobIDSchema = z.string().regex(/^\d+$/);
const startSchema = z.looseObject({ node: z.string(), jobID: jobIDSchema });
const exitSchema = z.looseObject({ exitCode: z.number(), asked: z.boolean() });
export type StartRecord = z.infer<typeof startSchema> & { readonly startedAt: number };
export type ExitRecord = z.infer<typeof exitSchema> & { readonly endedAt: number };

/**
 * What is known of a container's job on the shared storage, in the container's own directory: that we meant to submit
 * it, its job number, that we asked for its end; and what the job itself wrote: its claim, its start, its exit.
 */
export interface SlurmRecords {
  /** A file for the job, beside the records. */
  writeScript(name: string, text: string): Promise<void>;
  hasIntent(): Promise<boolean>;
  writeIntent(): Promise<void>;
  readJobID(): Promise<string | undefined>;
  writeJobID(jobID: string): Promise<void>;
  isStopped(): Promise<boolean>;
  writeStop(): Promise<void>;
  readStart(): Promise<StartRecord | undefined>;
  readExit(): Promise<ExitRecord | undefined>;
  /** Why the container could not be set up. */
  readRefusal(): Promise<string | undefined>;
  /**
   * Takes the claim in the job's place; true when no job has started, and then none ever will: of an `absent` one until
   * `withdrawAbsent`.
   */
  claim(as: 'ended' | 'absent'): Promise<boolean>;
  withdrawAbsent(): Promise<void>;
}

export function openSlurmRecords(directory: string): SlurmRecords {
  const path = (name: string) => join(directory, name);
  return {
    writeScript: (name, text) => put(path(name), text, 0o755),
    hasIntent: () => exists(path(INTENT)),
    writeIntent: () => put(path(INTENT), ''),
    readJobID: async () => jobIDSchema.safeParse((await read(path(JOB)))?.trim()).data,
    writeJobID: (jobID) => put(path(JOB), jobID),
    isStopped: () => exists(path(STOP)),
    writeStop: () => put(path(STOP), ''),
    async readStart() {
      const found = await readRecord(startSchema, path(START_RECORD));
      return found && { ...found.record, startedAt: found.writtenAt };
    },
    async readExit() {
      const found = await readRecord(exitSchema, path(EXIT_RECORD));
      return found && { ...found.record, endedAt: found.writtenAt };
    },
    readRefusal: () => read(path(REFUSAL_RECORD)),
    claim: async (as) => {
      try {
        await writeFile(path(CLAIM), as, { flag: 'wx' });
        return true;
      } catch (error) {
        if (isSystemError(error, 'EEXIST')) return (await read(path(CLAIM))) === as;
        throw error;
      }
    },
    withdrawAbsent: async () => {
      if ((await read(path(CLAIM))) === 'absent') await rm(path(CLAIM));
    },
  };
}

async function put(path: string, text: string, mode = 0o600): Promise<void> {
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, text, { flush: true, flag: 'wx', mode });
  await rename(fresh, path);
}

/** The directory may belong to the container's user: links are not followed, and what is no small file is no record. */
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

/** A job's record, and when it was written by the clock of the storage, which is one for all nodes. */
async function readRecord<T>(
  schema: z.ZodType<T>,
  path: string,
): Promise<{ record: T; writtenAt: number } | undefined> {
  const stamped = await readStamped(path);
  // The line's end is the record's: a node that crashed, or storage that lags, may show less.
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
