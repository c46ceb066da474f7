import { lstatSync, opendirSync } from 'node:fs';
import { isSystemError } from '@sluice/host-system';
import { checkAnswer, createStoragePacer } from '../../storage/storage-access.ts';
import { type ConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { isAbsence } from './file-errors.ts';
import { release, within } from './held-directory.ts';
import { removeTree } from './remove-tree.ts';
import { ASIDE_PREFIX, putBack } from './replace-entry.ts';
import { isOwnTemporary } from './temporary-name.ts';
import { joinVolumePath } from './volume-path.ts';

/**
 * Removes the incomplete files of a volume: those of earlier processes regardless of their age, and those of this process
 * without a write since `before`, in milliseconds since the epoch. Restores entries that were moved aside for a replacement.
 * Resolves to the number removed. Follows no link, and yields to the event loop, because a volume may have millions of
 * entries. Ends early once `isStopped`. Throws `StorageSilent`.
 */
export async function sweepTemporaries(
  tree: ConfinedTree,
  { before, isStopped }: { before: number; isStopped: () => boolean },
): Promise<number> {
  const waiting = [''];
  let removed = 0;
  for (let path = waiting.pop(); path !== undefined && !isStopped(); path = waiting.pop()) {
    const stale: string[] = [];
    await checkAnswer(tree.storage);
    try {
      await lookInto(tree, path, { before, stale, waiting, isStopped });
    } catch (error) {
      // Removed or replaced in the meantime, or not accessible: inaccessible entries stay.
      if (!isAbsence(error) && !isOutOfReach(error)) throw error;
    }
    for (const name of stale) if (await isRemoved(tree, joinVolumePath(path, name))) removed++;
  }
  return removed;
}

/** Entries that a container made undeletable stay, so that the sweep continues with other volumes. */
async function isRemoved(tree: ConfinedTree, path: string): Promise<boolean> {
  try {
    return await removeTree(tree, path);
  } catch (error) {
    if (isAbsence(error) || isOutOfReach(error)) return false;
    throw error;
  }
}

async function lookInto(
  tree: ConfinedTree,
  path: string,
  found: { before: number; stale: string[]; waiting: string[]; isStopped: () => boolean },
): Promise<void> {
  const held = tree.hold(path, 'reject');
  const pace = createStoragePacer(tree.storage);
  const directory = opendirSync(`/proc/self/fd/${held}`);
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      await pace();
      if (found.isStopped()) return;
      if (!entry.name.startsWith(TEMPORARY_PREFIX)) {
        if (entry.isDirectory()) found.waiting.push(joinVolumePath(path, entry.name));
        continue;
      }
      // At any age: a replacement in this process is synchronous, so it is never in progress here.
      if (entry.isDirectory() && entry.name.startsWith(ASIDE_PREFIX)) putBack(tree, joinVolumePath(path, entry.name));
      const stats = lstatSync(within(held, entry.name), { throwIfNoEntry: false });
      if (stats === undefined || (isOwnTemporary(entry.name) && stats.mtimeMs >= found.before)) continue;
      found.stale.push(entry.name);
    }
  } finally {
    directory.closeSync();
    release(held);
  }
}

function isOutOfReach(error: unknown): boolean {
  return isSystemError(error, 'EACCES', 'EPERM', 'EROFS', 'EBUSY', 'ENOTEMPTY');
}
