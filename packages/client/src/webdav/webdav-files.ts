import type { Dispatcher } from 'undici';
import { type Clock, systemClock } from '../http/clock.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from '../http/http-service-options.ts';
import { openPool } from '../http/open-pool.ts';
import { encodeName } from '../name-bytes.ts';
import { isServiceError, ServiceError } from '../service-error.ts';
import type { FileEntry, VolumeFiles } from '../volume-files.ts';
import { copyEntry } from './copy-entry.ts';
import { createDavClient, type DavClient, discard } from './dav-client.ts';
import type { Resource } from './multistatus.ts';
import { readFile } from './read-file.ts';
import { parentPath, volumePathSegments } from './volume-path.ts';
import { isPartName, writeFile } from './write-file.ts';

/** The address of a volume's transfer service and its login, as `Volumes.create` returns them. */
export interface WebDavFilesOptions {
  /** The root of the volume on its transfer service. */
  readonly url: string;
  /** The user of the transfer service. */
  readonly username: string;
  /** Sent with every request by basic authentication. */
  readonly password: string;
  /** Connections to the origin of `url`, owned by the caller. Default: new ones, closed with the process. */
  readonly dispatcher?: (origin: string) => Dispatcher;
  /** Certificates (PEM) to trust instead of those of the system; only without `dispatcher`. */
  readonly ca?: string | readonly string[];
  /** The `User-Agent` header of every request. */
  readonly userAgent?: string;
  /** Overrides single defaults. */
  readonly timeouts?: Partial<Timeouts>;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

/**
 * The files of a volume over WebDAV, for any server with PROPFIND, GET, PUT, MKCOL, MOVE and DELETE. A file is uploaded
 * under a temporary name in its directory and then moved into place. `executable` is sent as Apache's property, which
 * other servers may ignore.
 */
export function createWebDavFiles(options: WebDavFilesOptions): VolumeFiles {
  const url = new URL(options.url);
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const dispatcher = options.dispatcher ?? ownPool(options, timeouts);
  const dav = createDavClient({
    origin: url.origin,
    rootPath: url.pathname.replace(/\/+$/, ''),
    username: options.username,
    password: options.password,
    dispatcher,
    userAgent: options.userAgent ?? 'sluice',
    timeouts,
    clock: options.clock ?? systemClock,
  });
  const files: VolumeFiles = {
    stat: (path) => stat(dav, path),
    list: (path) => list(dav, path),
    read: (path, range = {}) => readFile(dav, { path, range }),
    write: (path, body, write = {}) => writeFile(dav, { path, body, ...write }),
    link: (path, target) => makeLink(dav, { path, target }),
    makeDirectory: (path) => makeDirectory(dav, path),
    move: (from, to) => move(dav, { from, to }),
    copy: (from, to) => copy(files, dav, { from, to }),
    remove: (path) => remove(dav, path),
  };
  return files;
}

function ownPool(options: WebDavFilesOptions, timeouts: Timeouts): (origin: string) => Dispatcher {
  let pool: Dispatcher | undefined;
  return (origin) => {
    pool ??= openPool(origin, {
      connectMs: timeouts.connectMs,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
    return pool;
  };
}

async function stat(dav: DavClient, path: string): Promise<FileEntry | undefined> {
  volumePathSegments(path);
  const found = await dav.propfind(path, { depth: 0, what: `look at ${quote(path)}` });
  const self = found === undefined ? undefined : shortest(found);
  return self && toEntry(path, self);
}

async function list(dav: DavClient, path: string): Promise<FileEntry[]> {
  volumePathSegments(path);
  const what = `list ${quote(path)}`;
  const found = await dav.propfind(path, { depth: 1, what });
  const self = found === undefined ? undefined : shortest(found);
  if (found === undefined || self === undefined) {
    throw new ServiceError('NOT_FOUND', `could not ${what}: there is no such directory`);
  }
  if (self.kind === 'file') throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: it is a file`);
  const entries: FileEntry[] = [];
  for (const it of found) {
    const name = it.path.slice(it.path.lastIndexOf('/') + 1);
    if (it === self || isPartName(name)) continue;
    if (name === '' || name === '.' || name === '..' || name.includes('\0')) {
      throw new ServiceError(
        'INVALID_REPLY',
        `could not ${what}: ${quote(name)} is listed, which is no name of a file`,
      );
    }
    entries.push(toEntry(path === '' ? name : `${path}/${name}`, it));
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function toEntry(path: string, { kind, size, modifiedAt, executable, link, etag }: Resource): FileEntry {
  return {
    path,
    kind,
    size,
    modifiedAt,
    ...(executable !== undefined && kind === 'file' && { executable }),
    ...(link !== undefined && { link }),
    ...(etag !== undefined && { etag }),
  };
}

/** The directory itself: its path is a prefix of all others in a reply of depth 1. */
function shortest(found: readonly Resource[]): Resource | undefined {
  let self = found[0];
  for (const it of found) if (self !== undefined && it.path.length < self.path.length) self = it;
  return self;
}

/**
 * Creates a symlink with the HTTP method LINK, which `sluice serve` supports (docs/transfer.md) and other servers
 * reject.
 */
async function makeLink(dav: DavClient, { path, target }: { path: string; target: string }): Promise<boolean> {
  const what = `make the link ${quote(path)}`;
  rejectRoot(path, what);
  const headers = { 'sluice-link-target': target.split('/').map(encodeName).join('/') };
  const once = async () => {
    const reply = await dav.send({ method: 'LINK', path, headers, what });
    if ([200, 201, 204].includes(reply.statusCode)) return discard(reply, 'made' as const);
    if (reply.statusCode === 409) return discard(reply, 'noParent' as const);
    // Replies of servers without this method.
    if ([400, 405, 501].includes(reply.statusCode)) return discard(reply, 'unknown' as const);
    throw await dav.rejection(reply, what);
  };
  let outcome = await dav.again(once, what);
  if (outcome === 'noParent') {
    await dav.makeCollections(parentPath(path) ?? '');
    outcome = await dav.again(once, what);
  }
  if (outcome !== 'noParent') return outcome === 'made';
  throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: a file is where a directory is wanted`);
}

async function makeDirectory(dav: DavClient, path: string): Promise<void> {
  volumePathSegments(path);
  const made = await dav.makeCollections(path).catch((error: unknown) => {
    // Servers reject the replacement of a file by a directory in different ways; the existing entry is more informative.
    if (!isServiceError(error, 'INVALID_ARGUMENT')) throw error;
    return error;
  });
  if (made === 'made') return;
  const there = await stat(dav, path);
  if (there?.kind === 'file') {
    throw new ServiceError('INVALID_ARGUMENT', `could not make the directory ${quote(path)}: a file is there`);
  }
  if (made !== 'there') throw made;
}

async function move(dav: DavClient, { from, to }: { from: string; to: string }): Promise<void> {
  const what = `move ${quote(from)} to ${quote(to)}`;
  for (const path of [from, to]) rejectRoot(path, what);
  if (to === from || to.startsWith(`${from}/`)) {
    throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: nothing can be moved to or into itself`);
  }
  const moved = async (doubt: boolean) => {
    const outcome = await dav.move(from, { to, overwrite: false, what });
    if (outcome !== 'absent') return outcome;
    // The reply to an earlier attempt was lost: if `from` is gone and `to` exists, it was moved.
    if (doubt && (await stat(dav, to)) !== undefined) return 'moved';
    return outcome;
  };
  let outcome = await dav.again(moved, what);
  if (outcome === 'noParent') {
    await dav.makeCollections(parentPath(to) ?? '');
    outcome = await dav.again(() => moved(true), what);
  }
  if (outcome === 'noParent') {
    const inTheWay = (await stat(dav, parentPath(to) ?? ''))?.kind === 'file';
    const why = inTheWay ? 'a file is where a directory is wanted' : 'the transfer service failed';
    throw new ServiceError(inTheWay ? 'INVALID_ARGUMENT' : 'UNAVAILABLE', `could not ${what}: ${why}`);
  }
  if (outcome === 'occupied') throw new ServiceError('ALREADY_EXISTS', `could not ${what}: the target is there`);
  if (outcome !== 'moved') throw new ServiceError('NOT_FOUND', `could not ${what}: nothing is there`);
}

async function copy(files: VolumeFiles, dav: DavClient, { from, to }: { from: string; to: string }): Promise<void> {
  const what = `copy ${quote(from)} to ${quote(to)}`;
  for (const path of [from, to]) rejectRoot(path, what);
  if (to === from || to.startsWith(`${from}/`)) {
    throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: nothing can be copied to or into itself`);
  }
  await copyEntry(dav, files, { from, to, what });
}

async function remove(dav: DavClient, path: string): Promise<void> {
  const what = `remove ${quote(path)}`;
  rejectRoot(path, what);
  await dav.again(() => dav.remove(path, what), what);
}

function rejectRoot(path: string, what: string): void {
  if (volumePathSegments(path).length > 0) return;
  throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: the volume's root cannot be copied, moved or removed`);
}

const quote = (path: string) => (path === '' ? "the volume's root" : JSON.stringify(path));
