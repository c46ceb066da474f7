import { closeSync, constants, openSync, readlinkSync } from 'node:fs';

/** Linux: a handle to a place in the tree, which neither reads nor needs the right to. Node does not name it. */
const O_PATH = 0o10_000_000;
const HOLD = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A descriptor of a directory; `/proc/self/fd/<n>/name` is what `openat` would be, had Node got it. */
export type HeldDirectory = number;

/** The path that reaches into a held directory, wherever its name has gone since. */
export function within(directory: HeldDirectory, name: string): string {
  return `/proc/self/fd/${directory}/${name}`;
}

/** As `within`, for a name as the disk has it: containers make names that are no UTF-8, which text cannot hold. */
export function withinBytes(directory: HeldDirectory, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(within(directory, '')), name]);
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
  const directory = openSync(path, HOLD);
  let reached: string | undefined;
  try {
    reached = readlinkSync(`/proc/self/fd/${directory}`);
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
