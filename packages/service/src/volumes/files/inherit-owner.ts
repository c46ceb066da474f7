import { fchownSync, fstatSync, lchownSync, mkdirSync } from 'node:fs';
import { type HeldDirectory, within } from './held-directory.ts';

/**
 * If the service runs as root, sets the owner of a created entry to that of its directory, as if the user had created it.
 * `made` is a name or a descriptor.
 */
export function inheritOwner(directory: HeldDirectory, made: string | number): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = fstatSync(directory);
  if (uid === 0) return;
  if (typeof made === 'number') fchownSync(made, uid, gid);
  else lchownSync(within(directory, made), uid, gid);
}

/** Creates a directory whose owner is that of the directory that contains it. */
export function makeIn(directory: HeldDirectory, name: string, mode = 0o777): void {
  mkdirSync(within(directory, name), mode);
  inheritOwner(directory, name);
}
