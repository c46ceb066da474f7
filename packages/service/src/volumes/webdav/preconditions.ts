import type { Stats } from 'node:fs';
import { splitVolumePath } from '../files/volume-path.ts';
import { DavError } from './dav-rejection.ts';
import { type DavRequest, type DavVolume, etagOf, findStats, hrefOf, locate } from './dav-request.ts';
import { type IfList, parseIfHeader } from './if-header.ts';
import type { Lock } from './lock-table.ts';

/**
 * Checks `If`, `If-Match`, `If-None-Match` and `If-Unmodified-Since`. Throws `DavError` 412 if one of them does not hold.
 */
export function checkPreconditions(dav: DavRequest): void {
  checkVersion(dav);
  const lists = ifLists(dav);
  if (lists !== undefined && !lists.some((list) => holds(dav, list))) reject('If');
}

/** Checks those of these conditions that depend only on the current file, for example `If-None-Match: *`. */
export function checkVersion(dav: DavRequest): void {
  const { headers } = dav.request;
  const stats = findStats(dav.volume, dav.path);
  if (headers['if-match'] !== undefined && !matches(headers['if-match'], stats)) reject('If-Match');
  const noneMatch = headers['if-none-match'];
  const reads = dav.request.method === 'GET' || dav.request.method === 'HEAD';
  if (noneMatch !== undefined && !reads && matches(noneMatch, stats)) reject('If-None-Match');
  const since = Date.parse(headers['if-unmodified-since'] ?? '');
  if (!Number.isNaN(since) && stats !== undefined && Math.floor(stats.mtimeMs / 1_000) * 1_000 > since) {
    reject('If-Unmodified-Since');
  }
}

function reject(header: string): never {
  throw new DavError(412, `the condition of ${header} does not hold`);
}

/** Whether a list of entity tags, or `*`, matches the current file. */
export function matches(header: string, stats: Stats | undefined): boolean {
  if (stats === undefined) return false;
  if (header.trim() === '*') return true;
  const etag = etagOf(stats);
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag);
}

function ifLists(dav: DavRequest): IfList[] | undefined {
  const header = dav.request.headers.if;
  if (typeof header !== 'string') return undefined;
  const lists = parseIfHeader(header);
  if (lists === undefined) throw new DavError(400, 'the If header is malformed');
  return lists;
}

function holds(dav: DavRequest, list: IfList): boolean {
  const path = taggedPath(dav, list.tag);
  const stats = path === undefined ? undefined : findStats(dav.volume, path);
  const tokens = path === undefined ? [] : dav.volume.locks.covering(path).map((lock) => lock.token);
  return list.conditions.every((condition) => {
    const is =
      condition.kind === 'token'
        ? tokens.includes(condition.token)
        : stats !== undefined && etagOf(stats) === condition.etag;
    return is !== condition.not;
  });
}

function taggedPath(dav: DavRequest, tag: string | undefined): string | undefined {
  if (tag === undefined) return dav.path;
  try {
    return locate(dav.volume.prefix, tag);
  } catch {
    return undefined;
  }
}

/** The lock tokens that the request contains. */
export function submittedTokens(dav: DavRequest): Set<string> {
  const tokens = (ifLists(dav) ?? []).flatMap((list) => list.conditions);
  return new Set(tokens.flatMap((condition) => (condition.kind === 'token' ? [condition.token] : [])));
}

/**
 * Throws `DavError` 423 unless the request contains a token of each lock that a change of `path` affects. `member` means
 * that the name is created or removed, which also changes the parent directory; `tree`, that everything beneath is affected.
 */
export function checkLocks(dav: DavRequest, path: string, touches: { member?: boolean; tree?: boolean } = {}): void {
  const { locks } = dav.volume;
  const groups = [locks.covering(path)];
  if (touches.member && path !== '') groups.push(locks.covering(splitVolumePath(path).parent));
  if (touches.tree) for (const lock of locks.beneath(path)) groups.push([lock]);
  const tokens = submittedTokens(dav);
  for (const group of groups) requireOne(dav.volume, group, tokens);
}

/** For shared locks on one resource, one token is enough. */
function requireOne(volume: DavVolume, locks: readonly Lock[], tokens: ReadonlySet<string>): void {
  const [first] = locks;
  if (first === undefined || locks.some((lock) => tokens.has(lock.token))) return;
  const href = hrefOf(volume, first.path, findStats(volume, first.path)?.isDirectory() ? 'dir' : 'file');
  throw new DavError(423, 'it is locked', {
    condition: `<D:lock-token-submitted><D:href>${href}</D:href></D:lock-token-submitted>`,
  });
}
