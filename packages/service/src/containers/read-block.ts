import { close, constants, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { isSystemError } from '@sluice/host-system';
import type { StorageAccess } from '../storage/storage-access.ts';

const openFile = promisify(open);
const readFile = promisify(read);
const closeFile = promisify(close);

/**
 * Reads bytes of a file from `position` into `into`, and returns the part that was filled: empty at the end of the file,
 * undefined if the file does not exist. The file is open only during the call, so slow readers hold no files.
 */
export function readBlock(
  { path, access }: { readonly path: string; readonly access: StorageAccess },
  position: number,
  into: Buffer,
): Promise<Buffer | undefined> {
  return access.inThread(async () => {
    try {
      // The container's user may be able to write the directory of the log, so do not follow links or wait for FIFOs.
      const file = await openFile(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const { bytesRead } = await readFile(file, into, 0, into.length, position);
        return into.subarray(0, bytesRead);
      } finally {
        await closeFile(file);
      }
    } catch (error) {
      if (isSystemError(error, 'ENOENT', 'ELOOP')) return undefined;
      throw error;
    }
  });
}
