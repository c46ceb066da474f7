import type { z } from 'zod';
import type { Principal } from '../accounts/principal.ts';
import type { ServiceCalls } from '../calls/service-calls.ts';
import type { TransferAddress } from '../calls/volume-calls.ts';
import type { Query, QuerySchema } from './parse-query.ts';

/** One endpoint: what the router, the handler and the OpenAPI document are made from. */
export interface ApiRoute<S extends QuerySchema = QuerySchema> {
  readonly operationID: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Beneath `/api/v1rc1`, with `{name}` for parameters; `:verb` at the end for custom verbs. */
  readonly path: string;
  readonly query: S;
  /** The request's body, where the endpoint has one. */
  readonly body?: z.ZodType;
  /** What a success gives: a JSON body, a text stream, or 204. */
  readonly reply: z.ZodType | 'text' | 'nothing';
  /** An object, or the text of one where there is no need to make it first. */
  handle(request: ApiRequest<S>): Promise<unknown>;
}

/** A request after authentication, with everything read and nothing judged. */
export interface ApiRequest<S extends QuerySchema = QuerySchema> {
  readonly calls: ServiceCalls;
  readonly principal: Principal;
  /** Path parameters. */
  readonly at: Readonly<Record<'clusterID' | 'accountID' | 'volumeID' | 'containerID', string>>;
  readonly query: Query<S>;
  readonly body: unknown;
  /** Aborted when a stream's reader has gone, or the service closes. */
  readonly signal: AbortSignal;
  /** Where the client that sent this request reaches volumes. */
  readonly address: TransferAddress;
}

/** Types a route by its query schema, for the table. */
export function defineRoute<S extends QuerySchema>(route: ApiRoute<S>): ApiRoute {
  return route as unknown as ApiRoute;
}

/** An ID as a path segment: without colon, so that a verb after it is never taken for part of it. */
const SEGMENT = '(^[^:/]+)';

/**
 * The path as the router wants it. A colon after a parameter is literal only behind a pattern that excludes it: without
 * one, `:id::undelete` is a parameter of that odd name, and a plain POST on the ID would undelete.
 */
export function routerPath(path: string): string {
  return path.replaceAll(/:([a-z]+)$/g, '::$1').replaceAll(/\{(\w+)\}/g, `:$1${SEGMENT}`);
}
