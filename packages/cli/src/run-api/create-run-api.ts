import { followEvents } from './follow-events.ts';
import { OPERATIONS, type RunApiOperations } from './operations.ts';
import type { RunApiEvent } from './read-events.ts';
import { readJson, requireOk, sendRequest, toSluiceError } from './send-request.ts';

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
   * What happens to the runs in `query`, from now on or after `lastEventId`, until `signal` is aborted. A lost connection is
   * made again and continues after the last event. Throws `UNREACHABLE` if the first connection fails, or if none succeeds
   * for about a minute, and the reason of the server if it rejects one.
   */
  events(
    query: RunApiOperations['streamEvents']['query'],
    options?: { readonly lastEventId?: string; readonly signal?: AbortSignal },
  ): AsyncIterable<RunApiEvent>;
}

/**
 * A client of the run API of a home or of an account on a server, with the types of its OpenAPI document. It sends nothing
 * before the first call, and repeats no call.
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
      const sent = await sendRequest(locate(url, path, input), {
        ...{ method, signal: input.signal ?? null },
        headers: {
          ...authorization,
          ...(input.idempotencyKey !== undefined && { 'idempotency-key': input.idempotencyKey }),
          ...(input.body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      });
      const reply = await requireOk(sent);
      const isJson = reply.headers.get('content-type')?.startsWith('application/json') === true;
      return (isJson ? await readJson(reply) : reply.body) as never;
    },
    async *events(query, { lastEventId, signal } = {}) {
      const [method, path] = OPERATIONS.streamEvents;
      const connect = (after: string | undefined) =>
        sendRequest(locate(url, path, { query }), {
          ...{ method, signal: signal ?? null },
          headers: { ...authorization, ...(after !== undefined && { 'last-event-id': after }) },
        });
      try {
        yield* followEvents({ connect, lastEventId, signal });
      } catch (error) {
        if (signal?.aborted !== true) throw toSluiceError(error);
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
