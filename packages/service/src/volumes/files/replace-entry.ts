import { type ConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { namesIn } from './held-directory.ts';
import { temporaryBeside } from './temporary-name.ts';
import { joinVolumePath, splitVolumePath } from './volume-path.ts';

/** Prefix of directories that contain an entry to be replaced, under its original name. */
export const ASIDE_PREFIX = `${TEMPORARY_PREFIX}aside-`;

/**
 * Renames `from` to `to` if a plain rename cannot replace the entry at `to`. The old entry is moved aside, and back if the
 * rename fails; after a crash in between, `putBack` restores it. Returns the path of the old entry, which the caller
 * removes.
 */
export function replaceEntry(tree: ConfinedTree, from: string, to: string): string {
  const { name } = splitVolumePath(to);
  const aside = temporaryBeside(to, ASIDE_PREFIX);
  tree.makeDirectory(aside, 0o700);
  try {
    tree.rename(to, joinVolumePath(aside, name));
    tree.rename(from, to);
  } catch (error) {
    putBack(tree, aside);
    throw error;
  }
  // After this rename `putBack` no longer applies.
  const old = temporaryBeside(to);
  tree.rename(aside, old);
  return old;
}

/** Restores the entries of the directory `aside` unless their names are in use again, and removes `aside` if it is empty. */
export function putBack(tree: ConfinedTree, aside: string): void {
  const { parent } = splitVolumePath(aside);
  const names = tree.inDirectory(aside, (held) => namesIn(held).sort(), 'reject');
  const taken = names.filter((name) => tree.lstat(joinVolumePath(parent, name)) !== undefined);
  for (const name of names) {
    if (!taken.includes(name)) tree.rename(joinVolumePath(aside, name), joinVolumePath(parent, name));
  }
  if (taken.length === 0) tree.removeDirectory(aside);
}
