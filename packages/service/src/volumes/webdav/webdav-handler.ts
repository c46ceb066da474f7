import type { IncomingMessage, ServerResponse } from 'node:http';
import { own } from '@sluice/client';
import { openConfinedTree } from '../files/confined-tree.ts';
import { createTransferThrottle, type TransferThrottle } from '../transfer-throttle.ts';
import { type VolumeAccess, type VolumeSession, volumeKey } from '../volume-access.ts';
import { volumeFault } from '../volume-fault.ts';
import { makeCollection, remove } from './collections.ts';
import { copy, move } from './copy-move.ts';
import { DavError, rejectionOf, unavailable } from './dav-rejection.ts';
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

/** How volumes are served, and how failed logins are counted. */
export interface WebDavOptions {
  /** URL path under which a volume is served, without a trailing slash. Default: `''`, the server's root. */
  readonly prefixOf?: (session: VolumeSession) => string;
  /** Shared with the SFTP server, so that failed logins of both protocols count together. Default: its own. */
  readonly throttle?: TransferThrottle;
  /**
   * The address for counting failed logins. Default: the connection's remote address, which behind a proxy is the same for
   * all.
   */
  readonly addressOf?: (request: IncomingMessage) => string;
  /** Receives errors that are not caused by clients. */
  readonly onError?: (error: unknown, request: { readonly method: string; readonly url: string }) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Serves volumes; `close` ends requests in progress by closing their connections. */
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
  // Users may store HTML, which must not act as a page of this host.
  'content-security-policy': "default-src 'none'; sandbox",
};

/**
 * A WebDAV server, class 1 and 2, for requests of `node:http` or `node:https`. It authenticates by Basic authentication and
 * serves only the volume of the login. The calling server must have `requestTimeout = 0`: the default ends uploads after
 * five minutes.
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
    const volume = volumes.get(key) ?? openVolume(session, { now, prefix: prefixOf(session) });
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
    const fault = (await session.storage?.fault()) ?? volumeFault(session.root);
    if (fault !== undefined) throw unavailable(fault);
    const key = volumeKey(session);
    active.set(reply, key);
    reply.once('close', () => active.delete(reply));
    const volume = volumeOf(session);
    const dav: DavRequest = { volume, path: locate(volume.prefix, request.url ?? ''), request, reply };
    const verb = own(VERBS, request.method ?? '');
    if (verb === undefined) throw new DavError(405, 'unknown method', { headers: allow() });
    if (request.method !== 'OPTIONS') checkPreconditions(dav);
    await verb(dav);
  };

  const handle = (request: IncomingMessage, reply: ServerResponse): void => {
    serve(request, reply).catch((error: unknown) => {
      const rejection = rejectionOf(error);
      if (rejection === undefined && !reply.destroyed && !request.destroyed) {
        settings.onError?.(error, { method: request.method ?? '', url: request.url ?? '' });
      }
      answerRejection(request, reply, rejection ?? new DavError(500, 'unexpected error'));
    });
  };
  const close = () => {
    forget();
    cut(undefined);
  };
  return Object.assign(handle, { close });
}

function openVolume(session: VolumeSession, { now, prefix }: { now: () => number; prefix: string }): DavVolume {
  return {
    tree: openConfinedTree(session.root, session),
    locks: createLockTable(now),
    properties: openPropertyStore(session.propertiesPath),
    prefix,
  };
}

async function authenticate(
  request: IncomingMessage,
  { access, throttle, address }: { access: VolumeAccess; throttle: TransferThrottle; address: string },
): Promise<VolumeSession> {
  const login = /^Basic ([A-Za-z0-9+/=_-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const text = Buffer.from(login ?? '', 'base64').toString();
  const colon = text.indexOf(':');
  const unauthorized = new DavError(401, 'the login of a volume is required', {
    headers: { 'www-authenticate': 'Basic realm="volume", charset="UTF-8"' },
  });
  if (login === undefined || colon < 0) throw unauthorized;
  const username = text.slice(0, colon);
  const pause = throttle.pauseMs(address, username);
  if (pause > 0) {
    const headers = { 'retry-after': String(Math.ceil(pause / 1_000)) };
    throw new DavError(429, 'too many failed logins', { headers });
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
    allow: Object.keys(VERBS).join(', '), // The third class announces the `executable` property.
    dav: '1, 2, <http://apache.org/dav/propset/fs/1>',
    'ms-author-via': 'DAV',
  };
}

async function options({ reply }: DavRequest): Promise<void> {
  answer(reply, 200, allow());
}

function answerRejection(request: IncomingMessage, reply: ServerResponse, rejection: DavError): void {
  if (reply.headersSent) {
    reply.destroy();
    return;
  }
  // The rest of a long body is not read; that of a short one is, to keep the connection.
  const rest = request.complete || Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) < 65_536;
  const headers = { ...rejection.headers, ...(rest || isBodiless(request) ? {} : { connection: 'close' }) };
  const condition = rejection.condition ?? '';
  const text = escapeXml(rejection.message);
  const xml = `<D:error xmlns:D="DAV:">${condition}<message xmlns="">${text}</message></D:error>`;
  answerXml(reply, { status: rejection.status, xml, headers });
}

function isBodiless(request: IncomingMessage): boolean {
  return request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined;
}
