import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real, separate file system that can be filled. */
export interface SmallDisk {
  readonly path: string;
  /** Fills the free space except for `leave` bytes. */
  fill(leave?: number): void;
  /** Uses up the inodes except for `leave`. */
  fillInodes(leave?: number): void;
  /** Frees the space and the inodes again. */
  empty(): void;
  unmount(): void;
}

/**
 * Mounts one on an empty directory, by default a new one; undefined without permission. `size` may be followed by other
 * options of a tmpfs, each after a comma. Unmounting removes the directory.
 */
export function mountSmallDisk(
  size: string,
  path = mkdtempSync(join(tmpdir(), 'sluice-disk-')),
): SmallDisk | undefined {
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]).status !== 0) {
    rmSync(path, { recursive: true });
    return undefined;
  }
  const [ballast, spare, files] = [join(path, 'ballast'), join(path, 'spare'), join(path, 'files')];
  return {
    path,
    fill(leave = 0) {
      if (leave > 0) writeAll(spare, leave);
      writeAll(ballast, Number.POSITIVE_INFINITY);
      rmSync(spare, { force: true });
    },
    fillInodes(leave = 0) {
      mkdirSync(files);
      for (let left = statfsSync(path).ffree - leave; left > 0; left--) writeFileSync(join(files, `${left}`), '');
    },
    empty() {
      rmSync(ballast, { force: true });
      rmSync(files, { recursive: true, force: true });
    },
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
