import type { IncomingMessage } from 'node:http';
import { splitVolumePath } from '../files/volume-path.ts';
import { createWholeFile } from '../files/whole-file.ts';
import { DavRefusal } from './dav-refusal.ts';
import { answer, type DavRequest, etagOf, findStats } from './dav-request.ts';
import { checkLocks, checkVersion } from './preconditions.ts';

/** PUT: the whole file, seen by nobody before its last byte is there. */
export async function put(dav: DavRequest): Promise<void> {
  const { volume, request, reply, path } = dav;
  if (request.headers['content-range'] !== undefined) throw new DavRefusal(400, 'a part of a file cannot be put');
  const before = findStats(volume, path);
  if (before?.isDirectory()) throw new DavRefusal(405, 'it is a directory');
  checkLocks(dav, path, { member: before === undefined });
  requireParent(dav, path);
  const target = before === undefined ? path : volume.tree.realPath(path);
  const file = createWholeFile(volume.tree, target);
  try {
    await file.writeFrom(request);
    requireWhole(request);
    // Once more: others had the time of the whole upload to come first.
    checkVersion(dav);
    checkLocks(dav, path, { member: before === undefined });
    file.commit();
  } catch (error) {
    file.discard();
    throw error;
  }
  const after = findStats(volume, path);
  answer(reply, before === undefined ? 201 : 204, after === undefined ? {} : { etag: etagOf(after) });
}

/** 409 unless the directory that shall hold `path` is there. */
export function requireParent({ volume }: DavRequest, path: string): void {
  if (path === '') throw new DavRefusal(405, 'it is the root of the volume');
  if (!findStats(volume, splitVolumePath(path).parent)?.isDirectory()) {
    throw new DavRefusal(409, 'the directory above it is not there');
  }
}

/** A client that goes away in the middle ends the stream early: what came is no file. */
function requireWhole(request: IncomingMessage): void {
  if (!request.complete) throw new DavRefusal(400, 'the body broke off');
}
