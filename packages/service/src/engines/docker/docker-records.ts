import { constants } from 'node:fs';
import { appendFile, chmod, open, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import type { Launch } from '../engine.ts';
import { type ExitRecord, parseExitRecord } from '../exit-record.ts';

/** A first process writes two lines of at most 2 KiB. */
const RECORD_BYTES = 4096;

/** What the first process of a container has written, independent of what the daemon reports. */
export interface DockerRecord {
  /** Undefined: the command has not been started, but the first process may still start it. */
  readonly startedAt: number | undefined;
  readonly exit: ExitRecord | undefined;
}

/** Path of the record, the only file besides the log that a container shares with the service. */
export function recordPath(directory: string): string {
  return join(directory, 'docker-record');
}

/** Path of the list of expected mount points, for containers with many. */
export function mountListPath(directory: string): string {
  return join(directory, 'docker-mounts');
}

/**
 * Creates the empty files that the first process writes. Only the service can enter their directory; the files themselves
 * must be writable for any user that an image names.
 */
export async function createRecord({ directory, logPath }: Launch): Promise<void> {
  for (const path of [recordPath(directory), logPath]) {
    await writeFile(path, '', { flag: 'a' });
    await chmod(path, 0o666);
  }
}

/** What the service writes to prevent a start; only the first line of the record counts. */
const ABSENT = 'absent';

/**
 * Prevents the start of a container that seems not to have started, even if the daemon is starting it right now. False if it
 * has started. True without a record: a container without a first process can only be prevented through the daemon.
 */
export async function claimAbsent(directory: string): Promise<boolean> {
  try {
    await appendFile(recordPath(directory), `${ABSENT}\n`, { flag: constants.O_WRONLY | constants.O_APPEND });
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return true;
    throw error;
  }
  return (await readStart(recordPath(directory)))?.startsWith(`${ABSENT}\n`) === true;
}

/** Reverts `claimAbsent`, so that the container can start. */
export async function withdrawAbsent(directory: string): Promise<void> {
  const text = await readStart(recordPath(directory));
  if (text?.startsWith(`${ABSENT}\n`)) await truncate(recordPath(directory));
}

/** Removes the record of a container without a first process: without a record, the daemon's state decides. */
export async function withdrawRecord(directory: string): Promise<void> {
  await rm(recordPath(directory), { force: true });
}

/**
 * Reads the record; undefined for a container without a first process. Incomplete lines are ignored. The container itself
 * can write there too, which affects only its own outcome: an invalid line counts as a fault, and at most 4096 bytes are
 * read.
 */
export async function readRecord(directory: string): Promise<DockerRecord | undefined> {
  const text = await readStart(recordPath(directory));
  if (text === undefined) return undefined;
  const lines = text.split('\n').slice(0, -1);
  const started = lines.find((line) => /^started \d+$/.test(line));
  const last = lines.find((line) => line !== started && line !== ABSENT);
  return {
    startedAt: started === undefined ? undefined : Number(started.slice('started '.length)),
    exit: last === undefined ? undefined : readExit(last),
  };
}

function readExit(line: string): ExitRecord {
  try {
    return parseExitRecord(line);
  } catch (error) {
    const { message } = error as Error;
    return { startedAt: undefined, endedAt: Date.now(), end: { kind: 'fault', reason: message } };
  }
}

async function readStart(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(RECORD_BYTES), 0, RECORD_BYTES, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
