import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Bytes that this process's user can still write to the disk of `directory`. Infinite where the file system does
 * not say, as some network file systems do; a user's quota is not counted, which only a write finds out.
 */
export function readFreeSpace(directory: string): number {
  try {
    const { bsize, blocks, bfree, bavail } = statfsSync(directory);
    if (blocks === 0) return Number.POSITIVE_INFINITY;
    return bsize * (process.getuid?.() === 0 ? bfree : bavail);
  } catch {
    // A disk that does not answer is not full: the next write says what is wrong.
    return Number.POSITIVE_INFINITY;
  }
}

/** Whether so many bytes can really be written to `directory` now, also under a quota. */
export function canWrite(directory: string, bytes: number): boolean {
  const path = join(directory, '.room');
  let isWritten = false;
  try {
    writeFileSync(path, Buffer.alloc(bytes));
    isWritten = true;
  } catch {}
  try {
    rmSync(path, { force: true });
    return isWritten;
  } catch {
    // The file system has become read-only: nothing can be written.
    return false;
  }
}
