import { removeTree } from '../files/remove-tree.ts';
import { DavError } from './dav-rejection.ts';
import { answer, type DavRequest, depthOf, requireStats } from './dav-request.ts';
import { checkLocks } from './preconditions.ts';
import { requireParent } from './put.ts';

/** MKCOL: creates one directory. */
export async function makeCollection(dav: DavRequest): Promise<void> {
  const { volume, request, reply, path } = dav;
  const length = request.headers['content-length'];
  if (request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')) {
    throw new DavError(415, 'MKCOL does not accept a body');
  }
  if (volume.tree.lstat(path) !== undefined) throw new DavError(405, 'it already exists');
  requireParent(dav, path);
  checkLocks(dav, path, { member: true });
  volume.tree.space.check();
  volume.tree.makeDirectory(path);
  answer(reply, 201);
}

/** DELETE: removes a file or a directory with its content. */
export async function remove(dav: DavRequest): Promise<void> {
  const { volume, request, reply, path } = dav;
  if (path === '') throw new DavError(403, 'the root of the volume cannot be deleted');
  if (volume.tree.lstat(path) === undefined) requireStats(volume, path);
  if (depthOf(request, 'infinity') !== 'infinity') throw new DavError(400, 'DELETE requires Depth infinity');
  checkLocks(dav, path, { member: true, tree: true });
  await removeTree(volume.tree, path);
  volume.locks.forget(path);
  volume.properties.forget(path);
  answer(reply, 204);
}
