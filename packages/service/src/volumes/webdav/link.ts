import { decodeName } from '@sluice/client';
import { DavError } from './dav-rejection.ts';
import { answer, type DavRequest } from './dav-request.ts';
import { checkLocks } from './preconditions.ts';
import { requireParent } from './put.ts';

/** LINK: creates a symlink to the path in the header, which must be relative and inside the volume (docs/transfer.md). */
export async function link(dav: DavRequest): Promise<void> {
  const { volume, request, reply, path } = dav;
  const target = targetOf(request.headers['sluice-link-target']);
  requireParent(dav, path);
  const there = volume.tree.lstat(path);
  if (there?.isSymbolicLink() && volume.tree.readLink(path) === target) return answer(reply, 200);
  if (there !== undefined) throw new DavError(412, 'it already exists');
  checkLocks(dav, path, { member: true });
  volume.tree.symlink(target, path);
  answer(reply, 201);
}

function targetOf(header: string | string[] | undefined): string {
  if (typeof header !== 'string') throw new DavError(400, 'the Sluice-Link-Target header is missing');
  try {
    return decodeName(header);
  } catch {
    throw new DavError(400, 'the Sluice-Link-Target header is not validly percent-encoded');
  }
}
