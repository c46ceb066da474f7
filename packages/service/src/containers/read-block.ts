import { closeSync, constants, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { isSystemError } from '@sluice/host-system';

/** Far below what a process may have open, however many readers there are. */
const MAX_OPEN = 64;

const openFile = promisify(open);
const readFile = promisify(read);

let opened = 0;
const waiting: (() => void)[] = [];

/**
 * Bytes of a file from `position`, as many as `into` takes, and in it: none at its end, undefined where the file is not
 * there. It is open only for that, so that thousands of slow readers hold no files, and no more than a few are open at once.
 */
export async function readBlock(path: string, position: number, into: Buffer): Promise<Buffer | undefined> {
  if (opened >= MAX_OPEN) await new Promise<void>((resolve) => waiting.push(resolve));
  else opened++;
  try {
    // A log may be in a directory that the container's user can write: links are not followed, FIFOs not waited for.
    const file = await openFile(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { bytesRead } = await readFile(file, into, 0, into.length, position);
      return into.subarray(0, bytesRead);
    } finally {
      // At once: a file that was only read has nothing to wait for.
      closeSync(file);
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ELOOP')) return undefined;
    throw error;
  } finally {
    // The place goes to who waits longest, without being free in between.
    const next = waiting.shift();
    if (next === undefined) opened--;
    else next();
  }
}
