import { fchownSync, fstatSync, lchownSync } from 'node:fs';
import { type HeldDirectory, within } from './held-directory.ts';

/** What a service that is root makes in a user's directory belongs to that user, as if the user had made it. */
export function inheritOwner(directory: HeldDirectory, made: string | number): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = fstatSync(directory);
  if (uid === 0) return;
  if (typeof made === 'number') fchownSync(made, uid, gid);
  else lchownSync(within(directory, made), uid, gid);
}
