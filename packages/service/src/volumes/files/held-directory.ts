import { closeSync, constants, openSync, readdirSync, readlinkSync } from 'node:fs';
import { bytesToName, nameOnDisk } from '@sluice/client';

/** Linux: opens a file only as a reference, without read permission. Node has no name for it. */
export const O_PATH = 0o10_000_000;
const HOLD = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A descriptor of a directory. `/proc/self/fd/<n>/name` serves as a replacement for `openat`, which Node lacks. */
export type HeldDirectory = number;

/** The path of an entry of a held directory, valid even after the directory is renamed; bytes if the name is not UTF-8. */
export function within(directory: HeldDirectory, name: string): string | Buffer {
  return nameOnDisk(`/proc/self/fd/${directory}/${name}`);
}

/** Like `within`, for a name in bytes. */
export function withinBytes(directory: HeldDirectory, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), name]);
}

/** The names in a held directory, unsorted. They are read as bytes only if one of them is not UTF-8, which is rare. */
export function namesIn(directory: HeldDirectory): string[] {
  const path = `/proc/self/fd/${directory}`;
  const names = readdirSync(path);
  if (!names.some((name) => name.includes('\ufffd'))) return names;
  return readdirSync(path, { encoding: 'buffer' }).map(bytesToName);
}

/** The stored target of the link `path`, which is a path of `within`. */
export function linkTargetAt(path: string | Buffer): string {
  return bytesToName(readlinkSync(path, { encoding: 'buffer' }));
}

/** Closes the descriptor; it must not be used afterwards. */
export function release(directory: HeldDirectory): void {
  closeSync(directory);
}

/**
 * Holds the directory at the absolute path `path`; undefined if the kernel opened another one because of a symlink on the
 * path. The kernel reports what was opened after opening it, so replacing a symlink at any time has no effect: a descriptor
 * never moves to another directory.
 */
export function holdExactly(path: string): HeldDirectory | undefined {
  const onDisk = nameOnDisk(path);
  const directory = openSync(onDisk, HOLD);
  let reached: string | undefined;
  try {
    const opened = `/proc/self/fd/${directory}`;
    reached = typeof onDisk === 'string' ? readlinkSync(opened) : linkTargetAt(opened);
  } finally {
    if (reached !== path) closeSync(directory);
  }
  return reached === path ? directory : undefined;
}

/**
 * Holds the directory `name` in a held one; the caller releases it. Throws `ENOTDIR` for a symlink and for anything else
 * that is not a directory.
 */
export function holdBelow(directory: HeldDirectory, name: string | Buffer): HeldDirectory {
  return openSync(typeof name === 'string' ? within(directory, name) : withinBytes(directory, name), HOLD);
}

/** Holds any kind of entry of a held directory, without following a link; the caller closes the descriptor. */
export function holdNode(directory: HeldDirectory, name: string): number {
  return openSync(within(directory, name), O_PATH | constants.O_NOFOLLOW);
}
