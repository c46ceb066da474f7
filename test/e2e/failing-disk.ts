import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A real file system on a block device that can answer with I/O errors. The device is a loop device whose sparse file lies
 * on a small tmpfs: once that is full, the device has no block for new data, while the file system on it has room. So
 * writes succeed and their sync fails, and the file system becomes read-only once its journal cannot be written either.
 */
export interface FailingDisk {
  fail(): void;
  /** Replaces the file system at its path by one that works and holds what really is on the device. */
  replace(): void;
  unmount(): void;
}

/** Whether this process may make one. */
export const canMakeFailingDisk =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', 'true']).status === 0 &&
  spawnSync('losetup', ['--find']).status === 0;

/** Mounts one at `path`, an empty directory; `backing` is a directory that it makes for its own files. */
export function mountFailingDisk(path: string, backing: string): FailingDisk {
  const [image, ballast, saved] = ['image', 'ballast', 'saved'].map((name) => join(backing, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(backing);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', backing]);
  execFileSync('truncate', ['-s', '300m', image]);
  // The journal has no blocks before it is used, so that it fails with the rest.
  execFileSync('mkfs.ext4', ['-q', '-E', 'nodiscard,lazy_journal_init=1', image]);
  const device = execFileSync('losetup', ['--find', '--show', image], { encoding: 'utf8' }).trim();
  execFileSync('mount', [device, path]);
  return {
    fail: () => fill(ballast),
    replace() {
      rmSync(ballast);
      // What was written but never reached the device is still in memory.
      writeFileSync('/proc/sys/vm/drop_caches', '3');
      execFileSync('cp', ['-a', path, saved]);
      execFileSync('umount', ['-l', path]);
      execFileSync('cp', ['-a', `${saved}/.`, path]);
    },
    unmount() {
      spawnSync('umount', ['-l', path]);
      // Goes once no mount namespace has the file system mounted any more.
      spawnSync('losetup', ['--detach', device]);
      spawnSync('umount', ['-l', backing]);
    },
  };
}

function fill(ballast: string): void {
  const file = openSync(ballast, 'w');
  const block = Buffer.alloc(4096, 1);
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
