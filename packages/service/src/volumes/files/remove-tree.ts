import { lstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { isSystemError } from '@sluice/host-system';
import { checkAnswer, createStoragePacer } from '../../storage/storage-access.ts';
import type { ConfinedTree } from './confined-tree.ts';
import { errno } from './file-errors.ts';
import { type HeldDirectory, holdBelow, release, within, withinBytes } from './held-directory.ts';
import { temporaryName } from './temporary-name.ts';
import { splitVolumePath } from './volume-path.ts';

/** Directories at a greater depth are moved up before they are emptied, which limits the number of open descriptors. */
const MAX_HELD = 64;
/**
 * Attempts to empty a directory in which entries appear. Some network mounts create entries for removed files that are still
 * open.
 */
const MAX_LOOKS = 5;

interface Removal {
  readonly tree: ConfinedTree;
  readonly top: HeldDirectory;
  readonly pace: () => Promise<void> | undefined;
}

/**
 * Removes a file, a link itself, or a directory with its content; false if nothing was there. Follows no link, even one that
 * is created in the meantime. Handles trees of any depth and width without blocking the event loop for long.
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
    await emptyAndRemove(
      { tree, top, pace: createStoragePacer(tree.storage) },
      { holder: top, name: Buffer.from(name), depth: 0 },
    );
  } finally {
    release(top);
  }
  return true;
}

/** Removes what a failed or completed operation has left; what cannot be removed now is removed by the daily sweep. */
export async function removeLater(tree: ConfinedTree, path: string): Promise<void> {
  try {
    await checkAnswer(tree.storage);
    await removeTree(tree, path);
  } catch {
    // The operation's own outcome is more useful.
  }
}

async function emptyAndRemove(
  removal: Removal,
  victim: { holder: HeldDirectory; name: Buffer; depth: number },
): Promise<void> {
  const { holder, name, depth } = victim;
  if (depth > MAX_HELD) {
    const raised = temporaryName();
    renameSync(withinBytes(holder, name), within(removal.top, raised));
    return emptyAndRemove(removal, { holder: removal.top, name: Buffer.from(raised), depth: 0 });
  }
  const directory = holdBelow(holder, name);
  try {
    // Other processes may write into the directory, which makes rmdir fail: try again.
    for (let look = 0; look < MAX_LOOKS; look += 1) {
      await emptyOnce(removal, directory, depth);
      if (removeIfEmpty(holder, name)) return;
    }
    throw errno('ENOTEMPTY', `could not remove '${name}': other processes keep creating entries in it`);
  } finally {
    release(directory);
  }
}

async function emptyOnce(removal: Removal, directory: HeldDirectory, depth: number): Promise<void> {
  for (const name of namesIn(directory)) {
    await removal.pace();
    const stats = lstatSync(withinBytes(directory, name), { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (stats.isDirectory()) await emptyAndRemove(removal, { holder: directory, name, depth: depth + 1 });
    else if (unlinkIfThere(directory, name)) removal.tree.space.removed(stats);
  }
}

function namesIn(directory: HeldDirectory): Buffer[] {
  return readdirSync(`/proc/self/fd/${directory}`, { encoding: 'buffer' }).sort(Buffer.compare);
}

function unlinkIfThere(directory: HeldDirectory, name: Buffer): boolean {
  try {
    unlinkSync(withinBytes(directory, name));
    return true;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw error;
  }
}

function removeIfEmpty(holder: HeldDirectory, name: Buffer): boolean {
  try {
    rmdirSync(withinBytes(holder, name));
    return true;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return true;
    if (isSystemError(error, 'ENOTEMPTY')) return false;
    throw error;
  }
}
