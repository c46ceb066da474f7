import { type ConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { namesIn } from './held-directory.ts';
import { temporaryBeside } from './temporary-name.ts';
import { joinVolumePath, splitVolumePath } from './volume-path.ts';

/** Directories with such a name hold, under the name that it had beside them, what something else is to replace. */
export const ASIDE_PREFIX = `${TEMPORARY_PREFIX}aside-`;

/**
 * Renames `from` to `to`, where something is that a rename cannot replace. What was there is moved aside, and back where
 * the rename fails; whoever is killed between the two leaves it to `putBack`. Gives the path where the old is now, to be
 * removed.
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
  // From here on nobody puts it back.
  const old = temporaryBeside(to);
  tree.rename(aside, old);
  return old;
}

/** Gives what is in the directory `aside` its name back, unless something else has it, and removes `aside` if it is empty. */
export function putBack(tree: ConfinedTree, aside: string): void {
  const { parent } = splitVolumePath(aside);
  const names = tree.inDirectory(aside, (held) => namesIn(held).sort(), 'refuse');
  const taken = names.filter((name) => tree.lstat(joinVolumePath(parent, name)) !== undefined);
  for (const name of names) {
    if (!taken.includes(name)) tree.rename(joinVolumePath(aside, name), joinVolumePath(parent, name));
  }
  if (taken.length === 0) tree.removeDirectory(aside);
}
