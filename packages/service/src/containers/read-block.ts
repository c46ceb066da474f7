import { closeSync, constants, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { isSystemError } from '@sluice/host-system';

/** Far below a process's limit of open files. */
const MAX_OPEN = 64;

const openFile = promisify(open);
const readFile = promisify(read);

let opened = 0;
const waiting: (() => void)[] = [];

/**
 * Reads bytes of a file from `position` into `into`, and returns the part that was filled: empty at the end of the file,
 * undefined if the file does not exist. The file is open only during the call, so slow readers hold no files, and at most
 * 64 files are open at the same time.
 */
export async function readBlock(path: string, position: number, into: Buffer): Promise<Buffer | undefined> {
  if (opened >= MAX_OPEN) await new Promise<void>((resolve) => waiting.push(resolve));
  else opened++;
  try {
    // The container's user may be able to write the directory of the log, so do not follow links or wait for FIFOs.
    const file = await openFile(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { bytesRead } = await readFile(file, into, 0, into.length, position);
      return into.subarray(0, bytesRead);
    } finally {
      // Synchronous, because closing a file that was only read does not block.
      closeSync(file);
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ELOOP')) return undefined;
    throw error;
  } finally {
    // Passed directly to the longest waiting call, so that no newer call takes it.
    const next = waiting.shift();
    if (next === undefined) opened--;
    else next();
  }
}
