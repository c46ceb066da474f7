import type { z } from 'zod';
import type { Principal } from '../accounts/principal.ts';
import type { ServiceCalls } from '../calls/service-calls.ts';
import type { TransferAddress } from '../calls/volume-calls.ts';
import type { Query, QuerySchema } from './parse-query.ts';

/** One endpoint. The router, the handler and the OpenAPI document are derived from it. */
export interface ApiRoute<S extends QuerySchema = QuerySchema> {
  readonly operationId: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Relative to `/api/v1rc1`, with `{name}` for parameters, and `:verb` at the end for custom verbs. */
  readonly path: string;
  readonly query: S;
  /** The schema of the request's body; absent if the endpoint takes none. */
  readonly body?: z.ZodType;
  /** The reply on success: the schema of a JSON body, a text stream, or 204. */
  readonly reply: z.ZodType | 'text' | 'nothing';
  /** Resolves to the body: an object, or a string that is already JSON. */
  handle(request: ApiRequest<S>): Promise<unknown>;
}

/** An authenticated request whose parameters and body are parsed but not yet checked. */
export interface ApiRequest<S extends QuerySchema = QuerySchema> {
  readonly calls: ServiceCalls;
  readonly principal: Principal;
  /** Path parameters. */
  readonly at: Readonly<Record<'clusterID' | 'accountID' | 'volumeID' | 'containerID', string>>;
  readonly query: Query<S>;
  readonly body: unknown;
  /** Aborted when the client of a stream disconnects or the service closes. */
  readonly signal: AbortSignal;
  /** Where this client reaches the files of volumes. */
  readonly address: TransferAddress;
}

/** Infers the type of `query` in `handle`, then widens the route's type so that all routes fit in one table. */
export function defineRoute<S extends QuerySchema>(route: ApiRoute<S>): ApiRoute {
  return route as unknown as ApiRoute;
}

/** An ID as a path segment. It excludes the colon, so that a verb after the ID is not part of it. */
const SEGMENT = '(^[^:/]+)';

/**
 * The path in the router's syntax. A colon after a parameter is literal only if the parameter's pattern excludes it:
 * otherwise `:id::undelete` is one parameter with that name, and a plain POST on the ID would undelete the volume.
 */
export function routerPath(path: string): string {
  return path.replaceAll(/:([a-z]+)$/g, '::$1').replaceAll(/\{(\w+)\}/g, `:$1${SEGMENT}`);
}
