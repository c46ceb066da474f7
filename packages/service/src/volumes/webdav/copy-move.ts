import { randomBytes } from 'node:crypto';
import { TEMPORARY_PREFIX } from '../files/confined-tree.ts';
import { copyTree } from '../files/copy-tree.ts';
import { removeTree } from '../files/remove-tree.ts';
import { joinVolumePath, splitVolumePath } from '../files/volume-path.ts';
import { DavRefusal } from './dav-refusal.ts';
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

/** COPY: a file, a directory with (`Depth: infinity`) or without (`0`) what is in it. */
export async function copy(dav: DavRequest): Promise<void> {
  const { volume, request, path } = dav;
  const to = destinationOf(dav);
  const members = depthOf(request, 'infinity') !== '0';
  const directory = requireStats(volume, path).isDirectory();
  const replaced = checkDestination(dav, to, members);
  const temporary = temporaryBeside(to);
  try {
    await copyTree(volume.tree, { from: volume.tree.realPath(path), to: temporary, members });
    await clear(volume, to, { replaced, byDirectory: directory });
    volume.tree.rename(temporary, to);
  } catch (error) {
    await removeTree(volume.tree, temporary);
    throw error;
  }
  volume.properties.copy(path, to, { members });
  answer(dav.reply, replaced === undefined ? 201 : 204);
}

/** MOVE: a rename. */
export async function move(dav: DavRequest): Promise<void> {
  const { volume, request, path } = dav;
  const to = destinationOf(dav);
  if (path === '') throw new DavRefusal(403, 'the root of the volume cannot be moved');
  if (depthOf(request, 'infinity') !== 'infinity') throw new DavRefusal(400, 'MOVE takes no Depth but infinity');
  const directory = requireStats(volume, path).isDirectory();
  const replaced = checkDestination(dav, to, true);
  checkLocks(dav, path, { member: true, tree: true });
  await clear(volume, to, { replaced, byDirectory: directory });
  if (replaced === undefined) volume.tree.renameNew(path, to);
  else volume.tree.rename(path, to);
  volume.locks.forget(path);
  volume.properties.move(path, to);
  answer(dav.reply, replaced === undefined ? 201 : 204);
}

/** What will be replaced, after all that may forbid it has been asked. */
function checkDestination(dav: DavRequest, to: string, members: boolean): 'dir' | 'file' | undefined {
  const { volume, path, request } = dav;
  if (to === path) throw new DavRefusal(403, 'source and destination are the same');
  if (to === '' || isBeneath(path, to)) throw new DavRefusal(403, 'the destination holds the source');
  if (members && isBeneath(to, path)) throw new DavRefusal(403, 'the destination is inside the source');
  requireParent(dav, to);
  const there = volume.tree.lstat(to);
  if (there !== undefined && !mayOverwrite(request)) throw new DavRefusal(412, 'the destination is there already');
  checkLocks(dav, to, { member: there === undefined, tree: true });
  if (there === undefined) return undefined;
  return there.isDirectory() ? 'dir' : 'file';
}

/** Takes away what a rename cannot replace. It vanishes at once, and is removed afterwards. */
async function clear(
  volume: DavVolume,
  to: string,
  options: { replaced: 'dir' | 'file' | undefined; byDirectory: boolean },
): Promise<void> {
  const { replaced, byDirectory } = options;
  if (replaced === undefined || (replaced === 'file' && !byDirectory)) return;
  const aside = temporaryBeside(to);
  volume.tree.rename(to, aside);
  for (const lock of volume.locks.beneath(to)) volume.locks.remove(lock);
  await removeTree(volume.tree, aside);
}

function temporaryBeside(path: string): string {
  return joinVolumePath(splitVolumePath(path).parent, TEMPORARY_PREFIX + randomBytes(9).toString('hex'));
}
