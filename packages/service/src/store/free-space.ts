import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, ftruncateSync, openSync, statfsSync, statSync, writeSync } from 'node:fs';
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

/**
 * A file that holds space for what must be written to a full disk. It is never removed: the disk may have no inode left for
 * a new one.
 */
export interface SpaceReserve {
  /** The bytes that it holds. */
  readonly bytes: number;
  /** Makes it hold this many. False if these cannot be written, which also detects quotas; it then holds what it did. */
  hold(bytes: number): boolean;
}

/** The reserve in `directory`, as the last process has left it. */
export function openSpaceReserve(directory: string): SpaceReserve {
  const path = join(directory, 'reserve');
  return {
    get bytes() {
      return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    },
    hold(bytes) {
      try {
        const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
        try {
          return resize(file, bytes);
        } finally {
          closeSync(file);
        }
      } catch {
        // There is no inode for it, or the file system has become read-only: the next write reports the cause.
        return false;
      }
    },
  };
}

function resize(file: number, bytes: number): boolean {
  const before = fstatSync(file).size;
  try {
    // Bytes that no file system can compress.
    const added = randomBytes(Math.max(0, bytes - before));
    for (let at = 0; at < added.length; ) at += writeSync(file, added, at, added.length - at, before + at);
    ftruncateSync(file, bytes);
    return true;
  } catch {
    ftruncateSync(file, before);
    return false;
  }
}
