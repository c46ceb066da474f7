import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountSmallDisk } from '../../packages/service/test/store/small-disk.ts';

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
  const [image, saved] = [join(backing, 'image'), join(backing, 'saved')];
  mkdirSync(backing);
  const small = mountSmallDisk('40m', backing);
  if (small === undefined) throw new Error(`could not mount a file system on ${backing}`);
  execFileSync('truncate', ['-s', '300m', image]);
  // The journal has no blocks before it is used, so that it fails with the rest.
  execFileSync('mkfs.ext4', ['-q', '-E', 'nodiscard,lazy_journal_init=1', image]);
  const device = execFileSync('losetup', ['--find', '--show', image], { encoding: 'utf8' }).trim();
  execFileSync('mount', [device, path]);
  return {
    fail: () => small.fill(),
    replace() {
      small.empty();
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
      small.unmount();
    },
  };
}
