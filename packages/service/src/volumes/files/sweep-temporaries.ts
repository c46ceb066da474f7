import { lstatSync, opendirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSystemError } from '@sluice/host-system';
import { type ConfinedTree, TEMPORARY_PREFIX } from './confined-tree.ts';
import { isAbsence } from './file-errors.ts';
import { release, within } from './held-directory.ts';
import { removeTree } from './remove-tree.ts';
import { ASIDE_PREFIX, putBack } from './replace-entry.ts';
import { isOwnTemporary } from './temporary-name.ts';
import { joinVolumePath } from './volume-path.ts';

/** Entries looked at before other work gets its turn. */
const BATCH = 200;

/**
 * Removes the half-written files of a volume: all that earlier processes have left, whatever their age, and what this
 * one has not written to since `before`, in milliseconds since the epoch. Resolves to their number. What one of them was to replace gets its place back. Follows no link, and gives way
 * to other work, since a volume may have millions of entries. Ends early once `isStopped`.
 */
export async function sweepTemporaries(
  tree: ConfinedTree,
  { before, isStopped }: { before: number; isStopped: () => boolean },
): Promise<number> {
  const waiting = [''];
  let removed = 0;
  for (let path = waiting.pop(); path !== undefined && !isStopped(); path = waiting.pop()) {
    const stale: string[] = [];
    try {
      await lookInto(tree, path, { before, stale, waiting, isStopped });
    } catch (error) {
      // Removed or replaced meanwhile, or closed to us by whoever owns it: what is out of reach stays.
      if (!isAbsence(error) && !isOutOfReach(error)) throw error;
    }
    for (const name of stale) if (await isRemoved(tree, joinVolumePath(path, name))) removed++;
  }
  return removed;
}

/** What a container has made undeletable in it stays, so that all other volumes get their turn. */
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
  const held = tree.hold(path, 'refuse');
  const directory = opendirSync(`/proc/self/fd/${held}`);
  try {
    let count = 0;
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (++count % BATCH === 0) await nextTurn();
      if (found.isStopped()) return;
      if (!entry.name.startsWith(TEMPORARY_PREFIX)) {
        if (entry.isDirectory()) found.waiting.push(joinVolumePath(path, entry.name));
        continue;
      }
      // At any age: who replaces something does not let others look in between.
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
