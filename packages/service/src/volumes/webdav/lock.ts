import { constants } from 'node:fs';
import { closeFile } from '../files/close-file.ts';
import { DavError } from './dav-rejection.ts';
import { answer, answerXml, type DavRequest, type DavVolume, depthOf, findStats, hrefOf } from './dav-request.ts';
import { renderLock } from './live-properties.ts';
import type { Lock } from './lock-table.ts';
import { checkLocks, submittedTokens } from './preconditions.ts';
import { requireParent } from './put.ts';
import { childElements, isDav, readXml, renderContent, type XmlElement } from './request-xml.ts';

const DEFAULT_SECONDS = 600;
const MAX_SECONDS = 86_400;
const MAX_OWNER_CHARACTERS = 8_192;

/**
 * LOCK: creates a lock if the request has a body, otherwise refreshes one. A path where nothing exists gets an empty file.
 */
export async function lock(dav: DavRequest): Promise<void> {
  const { volume, path, request, reply } = dav;
  const body = await readXml(dav);
  const seconds = secondsOf(request.headers.timeout);
  if (body === undefined) return answerLock(dav, 200, refresh(dav, seconds));
  const depth = depthOf(request, 'infinity');
  if (depth === '1') throw new DavError(400, 'LOCK requires Depth 0 or infinity');
  const scope = scopeOf(body);
  rejectConflict(volume, { path, depth, scope });
  const owner = ownerOf(body);
  const created = findStats(volume, path) === undefined;
  if (created) {
    requireParent(dav, path);
    checkLocks(dav, path, { member: true });
  }
  const added = volume.locks.add({ path, depth, scope, owner, seconds });
  if (added === undefined) throw new DavError(507, 'the volume has the maximum number of locks');
  if (created) await createLocked(volume, added);
  reply.setHeader('lock-token', `<${added.token}>`);
  answerLock(dav, created ? 201 : 200, added);
}

/** Removes the lock if its file cannot be created, because the client never receives its token. */
async function createLocked(volume: DavVolume, added: Lock): Promise<void> {
  try {
    const file = volume.tree.openFile(added.path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
    await closeFile(volume.tree.storage, file);
  } catch (error) {
    volume.locks.remove(added);
    throw error;
  }
}

/** UNLOCK. Accepts a token without angle brackets, which a widely used client sends. */
export async function unlock({ volume, path, request, reply }: DavRequest): Promise<void> {
  const header = request.headers['lock-token'];
  if (typeof header !== 'string') throw new DavError(400, 'the Lock-Token header is missing');
  const token = header.trim().replace(/^<(.*)>$/, '$1');
  const found = volume.locks.covering(path).find((candidate) => candidate.token === token);
  if (found === undefined) {
    throw new DavError(409, 'it has no such lock', { condition: '<D:lock-token-matches-request-uri/>' });
  }
  volume.locks.remove(found);
  answer(reply, 204);
}

function refresh(dav: DavRequest, seconds: number): Lock {
  const tokens = submittedTokens(dav);
  const found = dav.volume.locks.covering(dav.path).find((candidate) => tokens.has(candidate.token));
  if (found === undefined) {
    throw new DavError(412, 'the If header contains no token of its locks', {
      condition: '<D:lock-token-matches-request-uri/>',
    });
  }
  return dav.volume.locks.refresh(found, seconds);
}

function rejectConflict(volume: DavVolume, wanted: Pick<Lock, 'path' | 'depth' | 'scope'>): void {
  const { locks } = volume;
  const near = [...locks.covering(wanted.path), ...(wanted.depth === 'infinity' ? locks.beneath(wanted.path) : [])];
  const conflict = near.find((other) => wanted.scope === 'exclusive' || other.scope === 'exclusive');
  if (conflict === undefined) return;
  const href = hrefOf(volume, conflict.path, findStats(volume, conflict.path)?.isDirectory() ? 'dir' : 'file');
  throw new DavError(423, 'it is locked', {
    condition: `<D:no-conflicting-lock><D:href>${href}</D:href></D:no-conflicting-lock>`,
  });
}

function scopeOf(body: XmlElement): 'exclusive' | 'shared' {
  const type = childElements(body, 'locktype').flatMap((element) => childElements(element));
  const scope = childElements(body, 'lockscope').flatMap((element) => childElements(element));
  if (!isDav(body, 'lockinfo') || !isDav(type[0], 'write'))
    throw new DavError(400, 'the body does not request a write lock');
  if (isDav(scope[0], 'exclusive')) return 'exclusive';
  if (isDav(scope[0], 'shared')) return 'shared';
  throw new DavError(400, 'the body has no lock scope');
}

function ownerOf(body: XmlElement): string {
  const owner = childElements(body, 'owner').map(renderContent).join('');
  if (owner.length > MAX_OWNER_CHARACTERS) throw new DavError(413, 'the owner of the lock is too long');
  return owner;
}

function secondsOf(header: string | string[] | undefined): number {
  const wanted = String(header ?? '')
    .split(',')
    .map((part) => part.trim());
  if (wanted[0]?.toLowerCase() === 'infinite') return MAX_SECONDS;
  const seconds = Number(/^Second-(\d{1,10})$/i.exec(wanted[0] ?? '')?.[1] ?? DEFAULT_SECONDS);
  return Math.max(1, Math.min(MAX_SECONDS, seconds));
}

function answerLock({ volume, reply }: DavRequest, status: number, held: Lock): void {
  const discovery = `<D:lockdiscovery>${renderLock(volume, held)}</D:lockdiscovery>`;
  answerXml(reply, { status, xml: `<D:prop xmlns:D="DAV:">${discovery}</D:prop>` });
}
