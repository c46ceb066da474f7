import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real, separate file system that can be filled. */
export interface SmallDisk {
  readonly path: string;
  /** Fills the free space except for `leave` bytes. */
  fill(leave?: number): void;
  /** Frees the space again. */
  empty(): void;
  unmount(): void;
}

/** Mounts one on an empty directory, by default a new one; undefined without permission. Unmounting removes the directory. */
export function mountSmallDisk(
  size: string,
  path = mkdtempSync(join(tmpdir(), 'sluice-disk-')),
): SmallDisk | undefined {
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]).status !== 0) {
    rmSync(path, { recursive: true });
    return undefined;
  }
  const [ballast, spare] = [join(path, 'ballast'), join(path, 'spare')];
  return {
    path,
    fill(leave = 0) {
      if (leave > 0) writeAll(spare, leave);
      writeAll(ballast, Number.POSITIVE_INFINITY);
      rmSync(spare, { force: true });
    },
    empty: () => rmSync(ballast, { force: true }),
    unmount() {
      execFileSync('umount', ['-l', path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function writeAll(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(4096, 1);
  try {
    for (let written = 0; written < bytes; written += block.length) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
