import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Bytes that this process's user can write to the disk of `directory`. Infinity if the file system does not report free
 * space, as some network file systems do. Disk quotas are not included; only a write detects them.
 */
export function readFreeSpace(directory: string): number {
  try {
    const { bsize, blocks, bfree, bavail } = statfsSync(directory);
    if (blocks === 0) return Number.POSITIVE_INFINITY;
    return bsize * (process.getuid?.() === 0 ? bfree : bavail);
  } catch {
    // A failed query does not mean that the disk is full: the next write reports the cause.
    return Number.POSITIVE_INFINITY;
  }
}

/** Whether `bytes` can be written to `directory` now, checked by writing a temporary file, which respects quotas. */
export function canWrite(directory: string, bytes: number): boolean {
  const path = join(directory, '.write-probe');
  let isWritten = false;
  try {
    writeFileSync(path, Buffer.alloc(bytes));
    isWritten = true;
  } catch {}
  try {
    rmSync(path, { force: true });
    return isWritten;
  } catch {
    // The file system has become read-only.
    return false;
  }
}
