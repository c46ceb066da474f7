import { SluiceError } from '@sluice/core';
import { OPERATIONS, type RunApiOperations } from './operations.ts';
import { type RunApiEvent, readEvents } from './read-events.ts';

/** Where a run API is, and who calls it. */
export interface RunApiOptions {
  /** Up to the version, `…/api/sluice/v1`, or on a server up to the account, `…/clusters/CLUSTER/accounts/ACCOUNT`. */
  readonly url: string;
  /** That of `host/api.json` in the home, or of the protocol on a server. */
  readonly token?: string;
}

/** What one operation takes; keys without required values may be absent. */
export type RunApiInput<N extends keyof RunApiOperations> = Part<'path', RunApiOperations[N]['path']> &
  Part<'query', RunApiOperations[N]['query']> &
  Part<'body', RunApiOperations[N]['body']> & {
    /** For operations that change something: a request that is repeated with the same key has no second effect. */
    readonly idempotencyKey?: string;
    readonly signal?: AbortSignal;
  };
type Part<K extends string, T> =
  Record<never, never> extends T ? { readonly [Key in K]?: T } : { readonly [Key in K]: T };

/** What one operation returns. */
export type RunApiReply<N extends keyof RunApiOperations> = RunApiOperations[N]['reply'];

/** A client of a run API. All its methods throw `SluiceError`. */
export interface RunApi {
  /**
   * Performs an operation of the OpenAPI document. The code of an error is the reason of the server, such as
   * `RUN_NOT_FOUND`, else `UNREACHABLE`, `ABORTED` or `INVALID_REPLY`.
   */
  call<N extends keyof RunApiOperations>(
    name: N,
    ...input: Record<never, never> extends RunApiInput<N> ? [input?: RunApiInput<N>] : [input: RunApiInput<N>]
  ): Promise<RunApiReply<N>>;
  /**
   * What happens to the runs in `query`, from now on or after `lastEventId`. Ends when `signal` is aborted or the
   * server ends the stream; throws `UNREACHABLE` when the connection is lost.
   */
  events(
    query: RunApiOperations['streamEvents']['query'],
    options?: { readonly lastEventId?: string; readonly signal?: AbortSignal },
  ): AsyncIterable<RunApiEvent>;
}

/**
 * A client of the run API of a home or of an account on a server, with the types of its OpenAPI document. It sends nothing
 * before the first call, and repeats nothing.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { createRunApi } from 'sluice/run-api';
 *
 * const { url, token } = JSON.parse(readFileSync('.sluice/host/api.json', 'utf8'));
 * const api = createRunApi({ url, token });
 * const { runs } = await api.call('listRuns', { query: { status: 'running' } });
 * for (const { runId } of runs) await api.call('cancelRun', { path: { runId } });
 * for await (const event of api.events({ list: 'true' })) {
 *   if (event.type === 'runs') console.log(event.data.runs.length, 'runs changed');
 * }
 * ```
 */
export function createRunApi({ url, token }: RunApiOptions): RunApi {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    async call(name, ...[given]) {
      const input: Request = given ?? {};
      const [method, path] = OPERATIONS[name];
      const reply = await send(locate(url, path, input), {
        ...{ method, redirect: 'error', signal: input.signal ?? null },
        headers: {
          ...authorization,
          ...(input.idempotencyKey !== undefined && { 'idempotency-key': input.idempotencyKey }),
          ...(input.body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      });
      const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true;
      return (isJson ? await readJson(reply) : reply.body) as never;
    },
    async *events(query, { lastEventId, signal } = {}) {
      const [method, path] = OPERATIONS.streamEvents;
      try {
        const reply = await send(locate(url, path, { query }), {
          ...{ method, redirect: 'error', signal: signal ?? null },
          headers: { ...authorization, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
        });
        yield* readEvents(reply.body!);
      } catch (error) {
        if (signal?.aborted !== true) throw describe(error);
      }
    },
  };
}

interface Request {
  readonly path?: object;
  readonly query?: object;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

function locate(url: string, path: string, { path: values = {}, query = {} }: Request): string {
  const parts = new Map(Object.entries(values));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(parts.get(name))));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  }
  return `${url.replace(/\/+$/, '')}${filled}${search.size === 0 ? '' : `?${search}`}`;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  let reply: Response;
  try {
    reply = await fetch(url, init);
  } catch (error) {
    throw describe(error);
  }
  if (reply.ok) return reply;
  const { status, message, details } = (await readJson(reply)) as Rejection;
  throw new SluiceError(details?.[0]?.reason ?? status ?? 'INVALID_REPLY', message ?? `status ${reply.status}`);
}

/** As `Error` of the OpenAPI document; something between client and server may send anything. */
interface Rejection {
  readonly status?: string;
  readonly message?: string;
  readonly details?: readonly { readonly reason?: string }[];
}

async function readJson(reply: Response): Promise<unknown> {
  const text = await reply.text().catch((error: unknown) => {
    throw describe(error);
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SluiceError('INVALID_REPLY', `${reply.url} has sent no JSON, with status ${reply.status}`, { cause });
  }
}

/** The codes of errors that `fetch` throws, and of an event that is no JSON, by their names. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['AbortError', 'ABORTED'],
  ['TimeoutError', 'ABORTED'],
  ['SyntaxError', 'INVALID_REPLY'],
]);

function describe(error: unknown): unknown {
  if (error instanceof SluiceError) return error;
  const { name, message, cause } = error as Error;
  const code = CODES.get(name) ?? 'UNREACHABLE';
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new SluiceError(code, `could not call the run API: ${message}${reason}`, { cause: error });
}
