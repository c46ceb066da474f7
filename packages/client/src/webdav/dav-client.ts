import type { Dispatcher } from 'undici';
import type { Clock } from '../http/clock.ts';
import { type Exchange, exchange, type Reply } from '../http/exchange.ts';
import type { Timeouts } from '../http/http-service-options.ts';
import { parseRetryAfter } from '../http/retry-after.ts';
import { sendError } from '../http/send-error.ts';
import { tryAgain } from '../http/try-again.ts';
import { encodeName } from '../name-bytes.ts';
import { ServiceError, type ServiceErrorCode } from '../service-error.ts';
import { PROPFIND_BODY, type Resource, readMultistatus } from './multistatus.ts';
import { parentPath, volumePathSegments } from './volume-path.ts';

/** The root of one volume on a WebDAV server, and how to connect to it. */
export interface DavOptions {
  readonly origin: string;
  /** Path of the volume's root, encoded, without a trailing slash. */
  readonly rootPath: string;
  readonly username: string;
  readonly password: string;
  readonly dispatcher: (origin: string) => Dispatcher;
  readonly userAgent: string;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
}

/** The server replies to a COPY when it is complete, which takes long for a large tree without reflinks. */
const COPY_REPLY_MS = 3_600_000;

/** A listing of a million entries takes a minute; beyond this limit, the server sends without end. */
const LISTING_MS = 15 * 60_000;
/** Time to drain an unused body; then the connection is closed. */
const DISCARD_MS = 10_000;

/** The outcome of a MOVE or COPY. */
type MoveOutcome = 'moved' | 'absent' | 'occupied' | 'noParent';

interface DavRequest {
  readonly method: string;
  readonly path: string;
  readonly directory?: boolean;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly what: string;
  readonly signal?: AbortSignal;
  /** Default: the client's; 0 for no limit. */
  readonly replyMs?: number;
}

/**
 * The WebDAV methods on one volume, each with the outcomes that its callers distinguish; all other replies throw
 * `ServiceError`.
 */
export interface DavClient {
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  /** Sends once. The caller must read or destroy the body. */
  send(request: DavRequest): Promise<Reply>;
  /** The error for an unexpected reply, whose body is discarded. */
  rejection(reply: Reply, what: string): Promise<ServiceError>;
  /** Undefined if the path does not exist. */
  propfind(path: string, options: { depth: 0 | 1; what: string }): Promise<Resource[] | undefined>;
  /** Creates a directory and its parents. */
  makeCollections(path: string): Promise<'made' | 'there'>;
  move(from: string, options: { to: string; overwrite: boolean; what: string }): Promise<MoveOutcome>;
  /** Copies recursively to a free name; `rejected` if the server does not copy. */
  copy(from: string, options: { to: string; what: string }): Promise<MoveOutcome | 'rejected'>;
  /** Does nothing if the path does not exist. */
  remove(path: string, what: string): Promise<void>;
  again<T>(once: (doubt: boolean) => Promise<T>, what: string): Promise<T>;
}

/** The functions on which the methods are built. */
type Sender = Pick<DavClient, 'send' | 'rejection' | 'again'>;

/** Sends nothing by itself. The caller owns the connections of `dispatcher`. */
export function createDavClient(options: DavOptions): DavClient {
  const { clock, timeouts, origin } = options;
  const sender: Sender = {
    send: createSend(options),
    async rejection(reply, what) {
      await discard(reply);
      return davError(reply, { what, now: clock.now() });
    },
    again: (once, what) => tryAgain(once, { clock, what }),
  };
  return {
    clock,
    timeouts,
    ...sender,
    propfind: (path, { depth, what }) => propfind(sender, { path, depth, what }),
    makeCollections: (path) => makeCollections(sender, path),
    move: (from, { to, overwrite, what }) => {
      const headers = { destination: origin + urlPath(options, { path: to }), overwrite: overwrite ? 'T' : 'F' };
      return move(sender, { method: 'MOVE', path: from, headers, what });
    },
    copy: (from, { to, what }) => {
      const headers = { destination: origin + urlPath(options, { path: to }), overwrite: 'F', depth: 'infinity' };
      return copy(sender, { method: 'COPY', path: from, headers, what, replyMs: COPY_REPLY_MS });
    },
    async remove(path, what) {
      const reply = await sender.send({ method: 'DELETE', path, what });
      if (![200, 204, 404].includes(reply.statusCode)) throw await sender.rejection(reply, what);
      await discard(reply);
    },
  };
}

/** The encoded path in a volume; the root and directories end with a slash. */
function urlPath(options: DavOptions, { path, directory = false }: { path: string; directory?: boolean }): string {
  const segments = volumePathSegments(path).map(encodeName);
  return [options.rootPath, ...segments].join('/') + (directory || path === '' ? '/' : '');
}

function createSend(options: DavOptions): DavClient['send'] {
  const { timeouts, origin } = options;
  const authorization = `Basic ${Buffer.from(`${options.username}:${options.password}`).toString('base64')}`;
  return (request) => {
    const sent: Exchange = {
      method: request.method,
      path: urlPath(options, request),
      headers: { 'user-agent': options.userAgent, authorization, ...request.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
      what: request.what,
      signal: request.signal,
      replyMs: request.replyMs ?? timeouts.replyMs,
      bodyMs: timeouts.bodyMs,
    };
    return exchange(options.dispatcher(origin), sent);
  };
}

function propfind(sender: Sender, asked: { path: string; depth: 0 | 1; what: string }) {
  const { path, depth, what } = asked;
  const headers = { depth: String(depth), 'content-type': 'application/xml; charset=utf-8' };
  const directory = depth === 1;
  const once = async () => {
    const reply = await sender.send({ method: 'PROPFIND', path, directory, headers, body: PROPFIND_BODY, what });
    if (reply.statusCode === 404) return discard(reply, undefined);
    if (reply.statusCode !== 207) throw await sender.rejection(reply, what);
    return await multistatus(reply, what);
  };
  return sender.again(once, what);
}

async function makeCollections(sender: Sender, path: string): Promise<'made' | 'there'> {
  if (path === '') return 'there';
  const what = `make the directory ${JSON.stringify(path)}`;
  const once = async () => {
    const reply = await sender.send({ method: 'MKCOL', path, directory: true, what });
    if (reply.statusCode === 201) return discard(reply, 'made' as const);
    // By the RFC, 405 means that it exists; servers that require the slash first reply 301.
    if (reply.statusCode === 405 || reply.statusCode === 301) return discard(reply, 'there' as const);
    if (reply.statusCode === 409) return discard(reply, 'noParent' as const);
    throw await sender.rejection(reply, what);
  };
  let outcome = await sender.again(once, what);
  if (outcome === 'noParent') {
    await makeCollections(sender, parentPath(path) ?? '');
    outcome = await sender.again(once, what);
  }
  if (outcome !== 'noParent') return outcome;
  throw new ServiceError('INVALID_ARGUMENT', `could not ${what}: a file is in the way`, { status: 409 });
}

async function move(sender: Sender, request: DavRequest): Promise<MoveOutcome> {
  return moveOutcome(sender, { reply: await sender.send(request), what: request.what });
}

async function moveOutcome(sender: Sender, { reply, what }: { reply: Reply; what: string }): Promise<MoveOutcome> {
  if (reply.statusCode === 201 || reply.statusCode === 204) return discard(reply, 'moved' as const);
  if (reply.statusCode === 404) return discard(reply, 'absent' as const);
  if (reply.statusCode === 412) return discard(reply, 'occupied' as const);
  // Apache replies 500 where the RFC requires 409.
  if (reply.statusCode === 409 || reply.statusCode === 500) return discard(reply, 'noParent' as const);
  throw await sender.rejection(reply, what);
}

/** Statuses of servers that do not copy, or copied only a part (207). */
const COPY_REJECTED: ReadonlySet<number> = new Set([207, 403, 405, 415, 501]);

async function copy(sender: Sender, request: DavRequest): Promise<MoveOutcome | 'rejected'> {
  const reply = await sender.send(request);
  if (COPY_REJECTED.has(reply.statusCode)) return discard(reply, 'rejected' as const);
  return moveOutcome(sender, { reply, what: request.what });
}

async function multistatus(reply: Reply, what: string): Promise<Resource[]> {
  let failure: unknown;
  const late = setTimeout(() => reply.body.destroy(new Error(`not complete after ${LISTING_MS} ms`)), LISTING_MS);
  async function* body() {
    try {
      yield* reply.body as AsyncIterable<Uint8Array>;
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  try {
    return await readMultistatus(body());
  } catch (error) {
    if (failure !== undefined) throw sendError(failure, { what });
    const why = error instanceof Error ? error.message : String(error);
    reply.body.on('error', () => {}).destroy();
    throw new ServiceError('INVALID_REPLY', `could not ${what}: the reply cannot be read (${why})`, { cause: error });
  } finally {
    clearTimeout(late);
  }
}

/** Drains a body so that its connection can be reused; if the body breaks off or is long, the connection is closed. */
export async function discard<T>(reply: Reply, value?: T): Promise<T> {
  const late = setTimeout(() => reply.body.destroy(), DISCARD_MS);
  await reply.body.dump({ limit: 65_536 }).catch(() => {});
  clearTimeout(late);
  return value as T;
}

function davError(reply: Reply, { what, now }: { what: string; now: number }): ServiceError {
  const status = reply.statusCode;
  const retryAfterMs = parseRetryAfter(reply.headers['retry-after'], now);
  return new ServiceError(codeOf(status), `could not ${what}: the transfer service replied ${status}`, {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const CODES = new Map<number, ServiceErrorCode>([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [405, 'FAILED_PRECONDITION'],
  [408, 'UNAVAILABLE'],
  // A PUT to a directory that was just created or found: the existing entry is not a directory.
  [409, 'INVALID_ARGUMENT'],
  [412, 'FAILED_PRECONDITION'],
  [423, 'FAILED_PRECONDITION'],
  [429, 'RESOURCE_EXHAUSTED'],
  [507, 'RESOURCE_EXHAUSTED'],
]);

function codeOf(status: number): ServiceErrorCode {
  if (status < 400) return 'INVALID_REPLY';
  return CODES.get(status) ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT');
}
