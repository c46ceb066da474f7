import type { IncomingMessage } from 'node:http';
import { splitVolumePath } from '../files/volume-path.ts';
import { createWholeFile } from '../files/whole-file.ts';
import { DavError } from './dav-rejection.ts';
import { answer, type DavRequest, etagOf, findStats } from './dav-request.ts';
import { checkLocks, checkVersion } from './preconditions.ts';

/** PUT: writes the whole file, which becomes visible only when complete. */
export async function put(dav: DavRequest): Promise<void> {
  const { volume, request, reply, path } = dav;
  if (request.headers['content-range'] !== undefined)
    throw new DavError(400, 'writing a part of a file is not supported');
  const before = findStats(volume, path);
  if (before?.isDirectory()) throw new DavError(405, 'it is a directory');
  checkLocks(dav, path, { member: before === undefined });
  requireParent(dav, path);
  const target = before === undefined ? path : volume.tree.realPath(path);
  const length = request.headers['content-length'];
  const file = createWholeFile(volume.tree, target, { size: length === undefined ? undefined : Number(length) });
  try {
    await file.writeFrom(request);
    requireWhole(request);
    await file.finish();
    // Checked again: the file may have changed during the upload.
    checkVersion(dav);
    checkLocks(dav, path, { member: before === undefined });
    file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
  const after = findStats(volume, path);
  answer(reply, before === undefined ? 201 : 204, after === undefined ? {} : { etag: etagOf(after) });
}

/** Throws `DavError` 409 if the parent directory of `path` does not exist. */
export function requireParent({ volume }: DavRequest, path: string): void {
  if (path === '') throw new DavError(405, 'it is the root of the volume');
  if (!findStats(volume, splitVolumePath(path).parent)?.isDirectory()) {
    throw new DavError(409, 'its parent directory does not exist');
  }
}

/** If the client disconnects, the stream ends early: the data is incomplete. */
function requireWhole(request: IncomingMessage): void {
  if (!request.complete) throw new DavError(400, 'the body is incomplete');
}
