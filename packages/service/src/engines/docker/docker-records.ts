import { constants } from 'node:fs';
import { appendFile, chmod, open, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import type { Launch } from '../engine.ts';
import { type ExitRecord, parseExitRecord } from '../exit-record.ts';

/** A first process writes two lines of at most 2 KiB. */
const RECORD_BYTES = 4096;

/** What the first process of a container has written, whatever the daemon knows. */
export interface DockerRecord {
  /** Undefined: the command has not been started, and what made this record may still do so. */
  readonly startedAt: number | undefined;
  readonly exit: ExitRecord | undefined;
}

/** The one file that a container shares with its service beside the log. */
export function recordPath(directory: string): string {
  return join(directory, 'docker-record');
}

/** What the first process reads of the mount points, where there are many. */
export function mountListPath(directory: string): string {
  return join(directory, 'docker-mounts');
}

/**
 * Makes the empty files that the first process writes. Their directory is the service's alone; inside the container
 * they must be open to any user that an image names.
 */
export async function createRecord({ directory, logPath }: Launch): Promise<void> {
  for (const path of [recordPath(directory), logPath]) {
    await writeFile(path, '', { flag: 'a' });
    await chmod(path, 0o666);
  }
}

/** What the service writes to close the record; only the first line counts. */
const ABSENT = 'absent';

/**
 * Makes sure that a container which seems not to have started never does, though the daemon may just be starting it. False
 * where it has started; true without a first process, whose container has the daemon's word alone.
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

/** Lets a container start that was claimed as absent. */
export async function withdrawAbsent(directory: string): Promise<void> {
  const text = await readStart(recordPath(directory));
  if (text?.startsWith(`${ABSENT}\n`)) await truncate(recordPath(directory));
}

/** For a container that is made without a first process: its missing record sends everybody to the daemon. */
export async function withdrawRecord(directory: string): Promise<void> {
  await rm(recordPath(directory), { force: true });
}

/**
 * Undefined for a container without a first process of ours. Lines that are not whole are not read. A container may
 * write there too, if only to harm itself: what no first process writes is a fault, and no more is read than one writes.
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
