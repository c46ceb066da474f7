import { lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { errnoOf } from './file-errors.ts';
import { type HeldDirectory, holdBelow, release, within } from './held-directory.ts';
import { splitVolumePath } from './volume-path.ts';

/** Deeper than this, a directory is moved up before it is emptied, so that depth costs no descriptors. */
const MAX_HELD = 64;
const BATCH = 500;

interface Removal {
  readonly top: HeldDirectory;
  count: number;
}

/**
 * Removes a file, a link as such, or a directory with all that is in it; false where nothing was. No link is followed,
 * also none that is swapped in meanwhile, and a tree of any depth and width is taken down without blocking for long.
 */
export async function removeTree(tree: ConfinedTree, path: string): Promise<boolean> {
  const stats = tree.lstat(path);
  if (stats === undefined) return false;
  if (path === '' || !stats.isDirectory()) {
    tree.unlink(path);
    return true;
  }
  const { parent, name } = splitVolumePath(path);
  const top = tree.hold(parent);
  try {
    await emptyAndRemove({ top, count: 0 }, { holder: top, name, depth: 0 });
  } finally {
    release(top);
  }
  return true;
}

async function emptyAndRemove(
  removal: Removal,
  victim: { holder: HeldDirectory; name: string; depth: number },
): Promise<void> {
  const { holder, name, depth } = victim;
  if (depth > MAX_HELD) {
    const raised = `${TEMPORARY_PREFIX}removal-${process.pid}-${removal.count}`;
    removal.count += 1;
    renameSync(within(holder, name), within(removal.top, raised));
    return emptyAndRemove(removal, { holder: removal.top, name: raised, depth: 0 });
  }
  const directory = holdBelow(holder, name);
  try {
    // Whoever writes into the directory meanwhile makes rmdir fail: look again, as long as each look removes something.
    while (true) {
      await emptyOnce(removal, directory, depth);
      if (removeIfEmpty(holder, name)) return;
    }
  } finally {
    release(directory);
  }
}

async function emptyOnce(removal: Removal, directory: HeldDirectory, depth: number): Promise<void> {
  for (const name of readdirSync(`/proc/self/fd/${directory}`).sort()) {
    removal.count += 1;
    if (removal.count % BATCH === 0) await nextTurn();
    const stats = lstatSync(within(directory, name), { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (stats.isDirectory()) await emptyAndRemove(removal, { holder: directory, name, depth: depth + 1 });
    else unlinkIfThere(directory, name);
  }
}

function unlinkIfThere(directory: HeldDirectory, name: string): void {
  try {
    unlinkSync(within(directory, name));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

function removeIfEmpty(holder: HeldDirectory, name: string): boolean {
  try {
    rmdirSync(within(holder, name));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return true;
    if (errnoOf(error) === 'ENOTEMPTY') return false;
    throw error;
  }
}
