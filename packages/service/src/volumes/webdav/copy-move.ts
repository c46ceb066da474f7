import type { Stats } from 'node:fs';
import { checkAnswer } from '../../storage/storage-access.ts';
import { copyTree } from '../files/copy-tree.ts';
import { removeLater } from '../files/remove-tree.ts';
import { replaceEntry } from '../files/replace-entry.ts';
import { temporaryBeside } from '../files/temporary-name.ts';
import { joinVolumePath, splitVolumePath } from '../files/volume-path.ts';
import { DavError } from './dav-rejection.ts';
import {
  answer,
  type DavRequest,
  type DavVolume,
  depthOf,
  destinationOf,
  mayOverwrite,
  requireStats,
} from './dav-request.ts';
import { isBeneath } from './lock-table.ts';
import { checkLocks } from './preconditions.ts';
import { requireParent } from './put.ts';

/** COPY: a file, or a directory with (`Depth: infinity`) or without (`0`) its content. */
export async function copy(dav: DavRequest): Promise<void> {
  const { volume, request, path } = dav;
  const to = destinationOf(dav);
  const depth = depthOf(request, 'infinity');
  if (depth === '1') throw new DavError(400, 'COPY requires Depth 0 or infinity');
  const members = depth === 'infinity';
  const directory = requireStats(volume, path).isDirectory();
  checkDestination(dav, to, members);
  volume.tree.space.check();
  const temporary = temporaryBeside(to);
  let replaced: Replaced;
  let aside: string | undefined;
  try {
    await copyTree(volume.tree, { from: volume.tree.realPath(path), to: temporary, members });
    await checkAnswer(volume.tree.storage);
    // Checked again: the destination may have changed during the copy.
    replaced = checkDestination(dav, to, members);
    aside = place(volume, { from: temporary, to, replaced, directory });
  } catch (error) {
    await removeLater(volume.tree, temporary);
    throw error;
  }
  volume.properties.copy(path, to, { members });
  if (aside !== undefined) await removeLater(volume.tree, aside);
  answer(dav.reply, replaced === undefined ? 201 : 204);
}

/** MOVE: a rename. */
export async function move(dav: DavRequest): Promise<void> {
  const { volume, request, path } = dav;
  const to = destinationOf(dav);
  if (path === '') throw new DavError(403, 'the root of the volume cannot be moved');
  if (depthOf(request, 'infinity') !== 'infinity') throw new DavError(400, 'MOVE requires Depth infinity');
  const directory = requireStats(volume, path).isDirectory();
  const replaced = checkDestination(dav, to, true);
  checkLocks(dav, path, { member: true, tree: true });
  const aside = place(volume, { from: path, to, replaced, directory });
  volume.locks.forget(path);
  volume.properties.move(path, to);
  if (aside !== undefined) await removeLater(volume.tree, aside);
  answer(dav.reply, replaced === undefined ? 201 : 204);
}

type Replaced = 'dir' | 'file' | undefined;

/** Checks everything that may prohibit the operation, and returns the kind of what will be replaced. */
function checkDestination(dav: DavRequest, to: string, members: boolean): Replaced {
  const { volume, path, request } = dav;
  if (to === '') throw new DavError(403, 'the destination contains the source');
  requireParent(dav, to);
  // With links, several paths may lead to one place.
  const [source, target] = [placeOf(volume, path), placeOf(volume, to)];
  if (target === source) throw new DavError(403, 'source and destination are the same');
  if (isBeneath(source, target)) throw new DavError(403, 'the destination contains the source');
  if (members && isBeneath(target, source)) throw new DavError(403, 'the destination is inside the source');
  const there = volume.tree.lstat(to);
  if (there !== undefined && !mayOverwrite(request)) throw new DavError(412, 'the destination already exists');
  checkLocks(dav, to, { member: there === undefined, tree: true });
  if (there === undefined) return undefined;
  return there.isDirectory() ? 'dir' : 'file';
}

/** `path` with links resolved, except for one at its end. */
function placeOf({ tree }: DavVolume, path: string): string {
  if (path === '') return '';
  const { parent, name } = splitVolumePath(path);
  return joinVolumePath(tree.realPath(parent), name);
}

/** Renames `from` to `to`. Returns the path of the old entry if a rename could not replace it. */
function place(
  { tree, locks }: DavVolume,
  { from, to, replaced, directory }: { from: string; to: string; replaced: Replaced; directory: boolean },
): string | undefined {
  if (replaced === 'dir' || (replaced === 'file' && directory)) {
    const aside = replaceEntry(tree, from, to);
    for (const lock of locks.beneath(to)) locks.remove(lock);
    return aside;
  }
  // A rename between two hard links of one file does nothing.
  if (replaced === 'file' && isOneFile(tree.lstat(from), tree.lstat(to))) tree.unlink(from);
  else tree.rename(from, to);
  return undefined;
}

function isOneFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}
