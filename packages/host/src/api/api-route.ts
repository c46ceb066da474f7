import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { RunApi } from './run-api.ts';

/** What an endpoint sends. `bytes`: with ranges; `events`: server-sent events. */
export type ReplyKind = z.ZodType | 'bytes' | 'events';

/** One endpoint. The router, the checks and the OpenAPI document are derived from it. */
export interface ApiRoute<Q extends z.ZodObject = z.ZodObject, B extends z.ZodType = z.ZodType> {
  readonly operationId: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to the prefix of the API, with `{name}` for parameters, and `:verb` at the end for actions. */
  readonly path: string;
  readonly query: Q;
  readonly body?: B;
  readonly reply: ReplyKind;
  /** The most bytes of the body; default: those of the server. */
  readonly bodyLimit?: number;
  /** Resolves to the JSON value of the reply; for the other kinds it sends the reply itself. Throws `ApiError`. */
  handle(request: ApiRequest<z.output<Q>, z.output<B>>): Promise<unknown>;
}

/** A request whose query and body have been checked. */
export interface ApiRequest<Q = Record<string, unknown>, B = unknown> {
  readonly api: RunApi;
  /** The parameters of the path. */
  readonly at: Readonly<Record<'runId' | 'name', string>>;
  readonly query: Q;
  readonly body: B;
  /** The ID of the run that this request starts, if it does: the same for a repeated request with its key. */
  readonly newRunId: string;
  readonly http: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Infers the types of `query` and `body` in `handle`, then widens them so that all routes fit in one list. */
export function defineRoute<Q extends z.ZodObject, B extends z.ZodType>(route: ApiRoute<Q, B>): ApiRoute {
  return route as unknown as ApiRoute;
}
