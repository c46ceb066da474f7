import type { IncomingMessage, ServerResponse } from 'node:http';
import { own } from '@sluice/client';
import { openConfinedTree } from '../files/confined-tree.ts';
import { createTransferThrottle, type TransferThrottle } from '../transfer-throttle.ts';
import { type VolumeAccess, type VolumeSession, volumeKey } from '../volume-access.ts';
import { volumeFault } from '../volume-fault.ts';
import { makeCollection, remove } from './collections.ts';
import { copy, move } from './copy-move.ts';
import { DavRefusal, refusalOf } from './dav-refusal.ts';
import { answer, answerXml, type DavRequest, type DavVolume, locate } from './dav-request.ts';
import { get } from './get.ts';
import { link } from './link.ts';
import { lock, unlock } from './lock.ts';
import { createLockTable } from './lock-table.ts';
import { checkPreconditions } from './preconditions.ts';
import { openPropertyStore } from './property-store.ts';
import { propfind } from './propfind.ts';
import { proppatch } from './proppatch.ts';
import { put } from './put.ts';
import { escapeXml } from './request-xml.ts';

export interface WebDavOptions {
  /** URL path under which a volume is served, without a slash at the end; default `''`, the server's root. */
  readonly prefixOf?: (session: VolumeSession) => string;
  /** Shared with the SFTP server, so that guessing is slowed down over both. */
  readonly throttle?: TransferThrottle;
  /** Whose guesses are counted; default the connection's other end. Needed behind a proxy, which is one for all. */
  readonly addressOf?: (request: IncomingMessage) => string;
  /** Told of what is no fault of the client. */
  readonly onError?: (error: unknown, request: { readonly method: string; readonly url: string }) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Serves volumes; `close` cuts what is under way. */
export interface WebDavHandler {
  (request: IncomingMessage, reply: ServerResponse): void;
  readonly close: () => void;
}

const VERBS: Readonly<Record<string, (dav: DavRequest) => Promise<void>>> = {
  COPY: copy,
  DELETE: remove,
  GET: get,
  HEAD: get,
  LINK: link,
  LOCK: lock,
  MKCOL: makeCollection,
  MOVE: move,
  OPTIONS: options,
  PROPFIND: propfind,
  PROPPATCH: proppatch,
  PUT: put,
  UNLOCK: unlock,
};

const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  // What users store may be HTML: it must not act as a page of this host.
  'content-security-policy': "default-src 'none'; sandbox",
};

/**
 * A WebDAV server, class 1 and 2, for requests of `node:http` or `node:https`. It sees who comes by Basic
 * authentication and serves that login's volume only. The server that calls it must have `requestTimeout = 0`:
 * the default cuts uploads after five minutes.
 */
export function createWebDavHandler(access: VolumeAccess, settings: WebDavOptions = {}): WebDavHandler {
  const throttle = settings.throttle ?? createTransferThrottle(settings.now);
  const now = settings.now ?? Date.now;
  const prefixOf = settings.prefixOf ?? (() => '');
  const addressOf = settings.addressOf ?? ((request: IncomingMessage) => request.socket.remoteAddress ?? '');
  const volumes = new Map<string, DavVolume>();
  const active = new Map<ServerResponse, string>();

  const volumeOf = (session: VolumeSession): DavVolume => {
    const key = volumeKey(session);
    const known = volumes.get(key);
    if (known !== undefined) return known;
    const volume: DavVolume = {
      tree: openConfinedTree(session.root),
      locks: createLockTable(now),
      properties: openPropertyStore(session.propertiesPath),
      prefix: prefixOf(session),
    };
    volumes.set(key, volume);
    return volume;
  };
  const cut = (key: string | undefined) => {
    for (const [reply, served] of active) if (key === undefined || served === key) reply.socket?.destroy();
  };
  const forget = access.onRevoked((volume) => {
    volumes.delete(volumeKey(volume));
    cut(volumeKey(volume));
  });

  const serve = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    for (const [name, value] of Object.entries(SAFE_HEADERS)) reply.setHeader(name, value);
    const session = await authenticate(request, { access, throttle, address: addressOf(request) });
    const fault = volumeFault(session.root);
    // Not 404, which would tell the client that its files are gone.
    if (fault !== undefined) {
      throw new DavRefusal(503, `the volume cannot be reached: ${fault}`, { headers: { 'retry-after': '5' } });
    }
    const key = volumeKey(session);
    active.set(reply, key);
    reply.once('close', () => active.delete(reply));
    const volume = volumeOf(session);
    const dav: DavRequest = { volume, path: locate(volume.prefix, request.url ?? ''), request, reply };
    const verb = own(VERBS, request.method ?? '');
    if (verb === undefined) throw new DavRefusal(405, 'the method is not known', { headers: allow() });
    if (request.method !== 'OPTIONS') checkPreconditions(dav);
    checkQuota(session, request);
    await verb(dav);
  };

  const handle = (request: IncomingMessage, reply: ServerResponse): void => {
    serve(request, reply).catch((error: unknown) => {
      const refusal = refusalOf(error);
      if (refusal === undefined && !reply.destroyed && !request.destroyed) {
        settings.onError?.(error, { method: request.method ?? '', url: request.url ?? '' });
      }
      answerRefusal(request, reply, refusal ?? new DavRefusal(500, 'an unexpected error'));
    });
  };
  const close = () => {
    forget();
    cut(undefined);
  };
  return Object.assign(handle, { close });
}

async function authenticate(
  request: IncomingMessage,
  { access, throttle, address }: { access: VolumeAccess; throttle: TransferThrottle; address: string },
): Promise<VolumeSession> {
  const login = /^Basic ([A-Za-z0-9+/=_-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const text = Buffer.from(login ?? '', 'base64').toString();
  const colon = text.indexOf(':');
  const unauthorized = new DavRefusal(401, 'a login of a volume is needed', {
    headers: { 'www-authenticate': 'Basic realm="volume", charset="UTF-8"' },
  });
  if (login === undefined || colon < 0) throw unauthorized;
  const username = text.slice(0, colon);
  const pause = throttle.pauseMs(address, username);
  if (pause > 0) {
    const headers = { 'retry-after': String(Math.ceil(pause / 1_000)) };
    throw new DavRefusal(429, 'too many logins have failed', { headers });
  }
  const session = await access.authenticate(username, text.slice(colon + 1));
  if (session === undefined) {
    throttle.failed(address, username);
    throw unauthorized;
  }
  throttle.succeeded(address, username);
  return session;
}

function allow(): Record<string, string> {
  return {
    allow: Object.keys(VERBS).join(', '), // The third tells that there is the `executable` property.
    dav: '1, 2, <http://apache.org/dav/propset/fs/1>',
    'ms-author-via': 'DAV',
  };
}

async function options({ reply }: DavRequest): Promise<void> {
  answer(reply, 200, allow());
}

function answerRefusal(request: IncomingMessage, reply: ServerResponse, refusal: DavRefusal): void {
  if (reply.headersSent) {
    reply.destroy();
    return;
  }
  // What is still to come of a body is not worth reading; a short one is, to keep the connection.
  const rest = request.complete || Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) < 65_536;
  const headers = { ...refusal.headers, ...(rest || isBodiless(request) ? {} : { connection: 'close' }) };
  const condition = refusal.condition ?? '';
  const text = escapeXml(refusal.message);
  answerXml(
    reply,
    refusal.status,
    `<D:error xmlns:D="DAV:">${condition}<message xmlns="">${text}</message></D:error>`,
    headers,
  );
}

function isBodiless(request: IncomingMessage): boolean {
  return request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined;
}

/** 507 with the precondition that RFC 4331 has for it. */
function checkQuota(session: VolumeSession, { method = '', headers }: IncomingMessage): void {
  if (!STORING.has(method)) return;
  const refused = session.admit?.(Number(headers['content-length'] ?? 0));
  if (refused !== undefined) throw new DavRefusal(507, refused, { condition: '<D:quota-not-exceeded/>' });
}

const STORING: ReadonlySet<string> = new Set(['PUT', 'COPY', 'MKCOL']);
