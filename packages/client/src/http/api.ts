import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { isServiceError, ServiceError } from '../service-error.ts';
import type { Clock } from './clock.ts';
import { type Exchange, exchange, type Reply, readBytes, readText } from './exchange.ts';
import type { Timeouts } from './http-service-options.ts';
import { parseReply } from './parse-reply.ts';
import { replyError } from './reply-error.ts';
import { parseRetryAfter } from './retry-after.ts';
import { abortedError } from './send-error.ts';
import type { TokenSource } from './token-source.ts';
import { tryAgain } from './try-again.ts';

/** One request to the API. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path segments after the API's own path, unencoded. */
  readonly path: readonly string[];
  /** Appended to the last segment: `:cancel`. */
  readonly verb?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Describes the call in messages, after "could not". */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
}

/** The API at one address. Adds the token, renews it after a 401, and converts failures to `ServiceError`. */
export interface Api {
  readonly clock: Clock;
  /** The secrets to mask in a reply; read again for each reply, because tokens change. */
  readonly secrets: () => readonly string[];
  /** Sends once; only after a 401, which proves that nothing was done, a second time. */
  callOnce<T>(call: ApiCall, schema: z.ZodType<T>): Promise<T>;
  /** For idempotent requests: retries temporary failures. */
  call<T>(call: ApiCall, schema: z.ZodType<T>): Promise<T>;
  /**
   * Like `call`, for replies without content. `doneAlready` tells which rejection of a retry means that an earlier
   * attempt succeeded.
   */
  act(call: ApiCall, options?: { doneAlready: (error: ServiceError) => boolean }): Promise<void>;
  /** Resolves with the headers of the reply; its body is unread and unlimited. `idleMs` 0 disables the timeout. */
  stream(call: ApiCall, options: { idleMs: number }): Promise<Reply>;
  /** As `call`, for a reply that is not JSON. */
  bytes(call: ApiCall): Promise<Uint8Array>;
}

/** The connections and settings of one address. */
export interface ApiOptions {
  /** For requests with a bounded reply. */
  readonly calls: Dispatcher;
  /** For logs, which occupy their connection for long. */
  readonly streams: Dispatcher;
  /** Path of the API, without a trailing slash. */
  readonly basePath: string;
  readonly headers: Record<string, string>;
  readonly tokens: TokenSource;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
}

/** Sends nothing before the first call. The caller closes the dispatchers. */
export function createApi(options: ApiOptions): Api {
  const { clock } = options;
  const send = (call: ApiCall) => sendAuthorized(options, { call, dispatcher: options.calls });
  const text = async (call: ApiCall) => {
    const { reply, request } = await send(call);
    return { status: reply.statusCode, text: await readText(reply, request), what: call.what };
  };
  const callOnce = async <T>(call: ApiCall, schema: z.ZodType<T>): Promise<T> => parseReply(schema, await text(call));
  return {
    clock,
    secrets: options.tokens.secrets,
    callOnce,
    call: (call, schema) => tryAgain(() => callOnce(call, schema), { clock, what: call.what, signal: call.signal }),
    act: (call, act) => {
      const once = async (doubt: boolean) => {
        try {
          await text(call);
        } catch (error) {
          if (!(doubt && isServiceError(error) && act?.doneAlready(error))) throw error;
        }
      };
      return tryAgain(once, { clock, what: call.what, signal: call.signal });
    },
    stream: (call, { idleMs }) => {
      const once = async () => {
        const { reply } = await sendAuthorized(options, { call, dispatcher: options.streams, bodyMs: idleMs });
        return reply;
      };
      return tryAgain(once, { clock, what: call.what, signal: call.signal });
    },
    bytes: (call) => {
      const once = async () => {
        const { reply, request } = await sendAuthorized(options, { call, dispatcher: options.streams });
        return readBytes(reply, request);
      };
      return tryAgain(once, { clock, what: call.what, signal: call.signal });
    },
  };
}

interface Sending {
  readonly call: ApiCall;
  readonly dispatcher: Dispatcher;
  readonly bodyMs?: number;
}

/** Returns the 2xx reply, after at most one new login. */
async function sendAuthorized(options: ApiOptions, sending: Sending): Promise<{ reply: Reply; request: Exchange }> {
  const { call } = sending;
  let token = await unlessAborted(options.tokens.current(), call);
  for (let fresh = false; ; fresh = true) {
    const request = toExchange(options, { sending, token });
    const reply = await exchange(sending.dispatcher, request);
    if (reply.statusCode >= 200 && reply.statusCode <= 299) return { reply, request };
    const error = await rejection(options, { reply, request });
    if (error.code !== 'UNAUTHENTICATED' || fresh) throw error;
    const next = await unlessAborted(options.tokens.replace(token), call);
    if (next === undefined) throw error;
    token = next;
  }
}

function toExchange(options: ApiOptions, { sending, token }: { sending: Sending; token: string }): Exchange {
  const { call } = sending;
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  return {
    method: call.method,
    path: `${options.basePath}/${pathOf(call)}`,
    headers: {
      ...options.headers,
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    what: call.what,
    signal: call.signal,
    replyMs: options.timeouts.replyMs,
    bodyMs: sending.bodyMs ?? options.timeouts.bodyMs,
  };
}

/** The encoded path and query. Rejects segments that would change the structure of the path. */
function pathOf(call: ApiCall): string {
  const wrong = call.path.find((segment) => segment === '' || segment === '.' || segment === '..');
  if (wrong !== undefined) {
    throw new ServiceError('INVALID_ARGUMENT', `could not ${call.what}: '${wrong}' is not an ID`);
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) if (value !== undefined) query.set(name, String(value));
  const path = call.path.map(encodeURIComponent).join('/') + (call.verb ?? '');
  return query.size === 0 ? path : `${path}?${query}`;
}

async function rejection(options: ApiOptions, about: { reply: Reply; request: Exchange }): Promise<ServiceError> {
  const { reply, request } = about;
  const bounded = { ...request, bodyMs: options.timeouts.bodyMs };
  // The status alone is a reply; if the body breaks off, only its message is lost.
  const body = await readErrorText(reply, bounded);
  const retryAfterMs = parseRetryAfter(reply.headers['retry-after'], options.clock.now());
  return replyError(request.what, { status: reply.statusCode, body: options.tokens.redact(body), retryAfterMs });
}

const MAX_ERROR_BYTES = 65_536;

async function readErrorText(reply: Reply, request: Exchange): Promise<string> {
  const declared = Number(reply.headers['content-length'] ?? 0);
  if (declared > MAX_ERROR_BYTES) {
    reply.body.on('error', () => {}).destroy();
    return '';
  }
  const parts: Buffer[] = [];
  let size = 0;
  const late = setTimeout(() => reply.body.destroy(new Error('late')), request.bodyMs);
  try {
    for await (const part of reply.body as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > MAX_ERROR_BYTES) break;
      parts.push(part);
    }
  } catch (error) {
    if (request.signal?.aborted === true) throw abortedError(request.what, error);
  } finally {
    clearTimeout(late);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Waits for a shared promise until the caller aborts. */
async function unlessAborted<T>(shared: Promise<T>, call: ApiCall): Promise<T> {
  const { signal } = call;
  if (signal === undefined) return await shared;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(abortedError(call.what, signal.reason));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([shared, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
