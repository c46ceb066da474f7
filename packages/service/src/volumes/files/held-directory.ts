import { closeSync, constants, openSync, readdirSync, readlinkSync } from 'node:fs';
import { bytesToName, nameOnDisk } from '@sluice/client';

/** Linux: a handle to a place in the tree, which neither reads nor needs the right to. Node does not name it. */
const O_PATH = 0o10_000_000;
const HOLD = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A descriptor of a directory; `/proc/self/fd/<n>/name` is what `openat` would be, had Node got it. */
export type HeldDirectory = number;

/** The path that reaches into a held directory, wherever its name has gone since; bytes where the name is no UTF-8. */
export function within(directory: HeldDirectory, name: string): string | Buffer {
  return nameOnDisk(`/proc/self/fd/${directory}/${name}`);
}

/** As `within`, for a name as the disk has it. */
export function withinBytes(directory: HeldDirectory, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), name]);
}

/** The names in a held directory, in no order. Only where text cannot hold one, which is rare, are they read as bytes. */
export function namesIn(directory: HeldDirectory): string[] {
  const path = `/proc/self/fd/${directory}`;
  const names = readdirSync(path);
  if (!names.some((name) => name.includes('\ufffd'))) return names;
  return readdirSync(path, { encoding: 'buffer' }).map(bytesToName);
}

/** The target of the link `path`. */
export function linkTargetAt(path: string | Buffer): string {
  return bytesToName(readlinkSync(path, { encoding: 'buffer' }));
}

export function release(directory: HeldDirectory): void {
  closeSync(directory);
}

/**
 * Holds the directory at the absolute path `path`, or gives undefined where the kernel got elsewhere, which means that
 * a symlink was on the way. The check comes after the open and asks the kernel what was opened, so that a symlink
 * swapped in before, between or after changes nothing: a descriptor never moves to another directory.
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

/** Holds the directory `name` in a held one. Throws `ENOTDIR` for a symlink, as for anything that is no directory. */
export function holdBelow(directory: HeldDirectory, name: string | Buffer): HeldDirectory {
  return openSync(typeof name === 'string' ? within(directory, name) : withinBytes(directory, name), HOLD);
}

/** Holds whatever `name` is in a held directory, a link as such; the caller closes the descriptor. */
export function holdNode(directory: HeldDirectory, name: string): number {
  return openSync(within(directory, name), O_PATH | constants.O_NOFOLLOW);
}
