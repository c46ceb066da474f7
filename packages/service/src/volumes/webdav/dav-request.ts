import type { Stats } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeName, encodeName } from '@sluice/client';
import { type ConfinedTree, TEMPORARY_PREFIX } from '../files/confined-tree.ts';
import { checkVolumePath } from '../files/volume-path.ts';
import { DavError } from './dav-rejection.ts';
import type { LockTable } from './lock-table.ts';
import type { PropertyStore } from './property-store.ts';

/** A volume for the handlers of methods. It exists as long as the WebDAV handler. */
export interface DavVolume {
  readonly tree: ConfinedTree;
  readonly locks: LockTable;
  readonly properties: PropertyStore;
  /** URL path of the volume's root without a trailing slash; `''` for the server's root. */
  readonly prefix: string;
}

/** One authenticated request, with its path resolved. */
export interface DavRequest {
  readonly volume: DavVolume;
  /** Volume path of the request's target. */
  readonly path: string;
  readonly request: IncomingMessage;
  readonly reply: ServerResponse;
}

/** The volume path of a request target or `Destination`. Throws `DavError` if it is not a valid path in this volume. */
export function locate(prefix: string, target: string): string {
  if (target.includes('#')) throw new DavError(400, 'the URI has a fragment');
  const pathname = (target.split('?', 1)[0] as string).replace(/^https?:\/\/[^/]*/i, '');
  if (!pathname.startsWith('/')) throw new DavError(400, 'the URI is not absolute');
  const path = decodePath(pathname);
  const base = decodePath(`${prefix}/`);
  if (base !== '' && path !== base && !path.startsWith(`${base}/`)) throw new DavError(404, 'it does not exist');
  const inside = base === '' ? path : path.slice(base.length + 1);
  const fault = checkVolumePath(inside);
  if (fault !== undefined) throw new DavError(400, `the URI is not a path in a volume: ${fault}`);
  if (inside.split('/').some((segment) => segment.startsWith(TEMPORARY_PREFIX))) {
    throw new DavError(403, 'the name is reserved');
  }
  return inside;
}

function decodePath(pathname: string): string {
  const segments = pathname.split('/').filter((segment) => segment !== '');
  return segments.map(decodeSegment).join('/');
}

function decodeSegment(segment: string): string {
  let decoded: string;
  try {
    decoded = decodeName(segment);
  } catch {
    throw new DavError(400, 'the URI is not validly percent-encoded');
  }
  if (decoded.includes('/')) throw new DavError(400, 'the URI has an encoded slash');
  return decoded;
}

/** The URL path of `path`; that of a directory ends with a slash. */
export function hrefOf(volume: DavVolume, path: string, kind: 'dir' | 'file'): string {
  const encoded = path === '' ? '' : `/${path.split('/').map(encodeName).join('/')}`;
  return `${volume.prefix}${encoded}${kind === 'dir' ? '/' : ''}`;
}

/** Like `findStats`, but throws `DavError` 404 if there is nothing. */
export function requireStats(volume: DavVolume, path: string): Stats {
  const stats = findStats(volume, path);
  if (stats === undefined) throw new DavError(404, 'it does not exist');
  return stats;
}

/** The stats of a file or directory, following links inside the volume; undefined for everything else. */
export function findStats(volume: DavVolume, path: string): Stats | undefined {
  const stats = volume.tree.stat(path);
  return stats?.isFile() || stats?.isDirectory() ? stats : undefined;
}

/** A strong entity tag: it changes with each change that the resolution of the file system's timestamps shows. */
export function etagOf(stats: Stats): string {
  return `"${stats.ino.toString(36)}-${stats.size.toString(36)}-${Math.round(stats.mtimeMs * 1_000).toString(36)}"`;
}

/** The `Depth` header, or `absent` without one. Throws `DavError` 400 for an invalid one. */
export function depthOf(request: IncomingMessage, absent: '0' | '1' | 'infinity'): '0' | '1' | 'infinity' {
  const depth = request.headers.depth;
  const text = typeof depth === 'string' ? depth.trim().toLowerCase() : absent;
  if (text === '0' || text === '1' || text === 'infinity') return text;
  throw new DavError(400, `the Depth '${text}' is not one of 0, 1, infinity`);
}

/** The volume path of the `Destination` header. Throws `DavError` if it is missing, invalid, or on another server. */
export function destinationOf({ volume, request }: DavRequest): string {
  const destination = request.headers.destination;
  if (typeof destination !== 'string') throw new DavError(400, 'the Destination header is missing');
  const host = /^https?:\/\/([^/]*)/i.exec(destination)?.[1];
  if (host !== undefined && bareHost(host) !== bareHost(request.headers.host ?? '')) {
    throw new DavError(502, 'the Destination is on another server');
  }
  return locate(volume.prefix, destination);
}

/** Without user and default port, which a proxy may have added or removed. */
function bareHost(host: string): string {
  return host
    .replace(/^.*@/, '')
    .replace(/:(80|443)?$/, '')
    .toLowerCase();
}

/** Whether the request may replace an existing destination. Default: true. */
export function mayOverwrite(request: IncomingMessage): boolean {
  return (
    String(request.headers.overwrite ?? 'T')
      .trim()
      .toUpperCase() !== 'F'
  );
}

/** Sends a response without a body. */
export function answer(reply: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  reply.writeHead(status, status === 204 || status === 304 ? headers : { 'content-length': '0', ...headers });
  reply.end();
}

/** Sends a response with an XML body; `xml` has no declaration. */
export function answerXml(
  reply: ServerResponse,
  { status, xml, headers = {} }: { status: number; xml: string; headers?: Readonly<Record<string, string>> },
): void {
  const body = Buffer.from(`<?xml version="1.0" encoding="utf-8"?>\n${xml}`);
  reply.writeHead(status, {
    'content-type': 'application/xml; charset=utf-8',
    'content-length': String(body.length),
    ...headers,
  });
  reply.end(body);
}
