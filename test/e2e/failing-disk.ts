import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { mountSmallDisk } from '../../packages/service/test/store/small-disk.ts';

/**
 * A real file system on a block device that can answer with I/O errors. The device is a loop device whose sparse file lies
 * on a small tmpfs: once that is full, the device has no block for new data, while the file system on it has room. So
 * writes succeed and their sync fails, and the file system becomes read-only once its journal cannot be written either.
 */
export interface FailingDisk {
  fail(): void;
  /** Replaces the device by a copy of its content that works, and mounts it at the same path after `e2fsck`. */
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
  const [image, copy] = [join(backing, 'image'), `${backing}.copy`];
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
      spawnSync('umount', ['-l', path]);
      // A copy, since the old file system may still be mounted in another mount namespace. Reading through the old mount is
      // no choice: what it holds in memory never reached the device, and what is only in its journal is not seen.
      execFileSync('cp', ['--sparse=always', image, copy]);
      const { status, stdout } = spawnSync('e2fsck', ['-f', '-y', copy], { encoding: 'utf8' });
      if (status === null || status > 1) throw new Error(`e2fsck cannot repair the file system: ${stdout}`);
      execFileSync('mount', ['-o', 'loop', copy, path]);
    },
    unmount() {
      spawnSync('umount', ['-l', path]);
      rmSync(copy, { force: true });
      // Goes once no mount namespace has the file system mounted any more.
      spawnSync('losetup', ['--detach', device]);
      small.unmount();
    },
  };
}
