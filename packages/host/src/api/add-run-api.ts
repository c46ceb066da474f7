import { setImmediate as nextTurn } from 'node:timers/promises';
import { describeIssue } from '@sluice/client';
import { createRunId, isRunId } from '@sluice/home';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ApiError, renderError } from '../errors/api-error.ts';
import { ACTION_ROUTES } from './action-routes.ts';
import { answerOnce } from './answer-once.ts';
import type { ApiRequest, ApiRoute } from './api-route.ts';
import { DELETE_ROUTE } from './delete-route.ts';
import { HOME_ROUTES } from './home-routes.ts';
import { API_PREFIX, renderOpenApi } from './openapi.ts';
import { HOME_ORDER_ROUTES } from './order-routes.ts';
import { READ_ROUTES } from './read-routes.ts';
import type { RunApi } from './run-api.ts';
import { SCHEDULE_ROUTES } from './schedule-routes.ts';
import { RangeError416 } from './send-bytes.ts';
import { rejectUnread, sendJson } from './send-json.ts';
import { countDownload } from './start-stream.ts';

/** The endpoints that a home and the accounts of a server have in common. */
export const SHARED_ROUTES: readonly ApiRoute[] = [
  ...READ_ROUTES,
  ...ACTION_ROUTES,
  DELETE_ROUTE,
  ...SCHEDULE_ROUTES,
  ...HOME_ROUTES,
];

/** Every endpoint of the API of a home. */
export const ROUTES: readonly ApiRoute[] = [...SHARED_ROUTES, ...HOME_ORDER_ROUTES];

/** Where an API is added, and how a request finds the runs that it is about. */
export interface ApiPlace {
  /** May contain `{name}` for parameters. */
  readonly prefix: string;
  readonly routes: readonly ApiRoute[];
  /** Called before the body of a request is read. Throws if the caller may not use the API. */
  readonly admit?: (http: FastifyRequest) => void;
  readonly find: (http: FastifyRequest) => RunApi | Promise<RunApi>;
}

/**
 * Adds the run API below `/api/sluice/v1` to a server, which decides who may call it. The caller closes first the API, then
 * the server.
 */
export function addRunApi(server: FastifyInstance, api: RunApi): Promise<void> {
  return addApi(server, { prefix: API_PREFIX, routes: ROUTES, find: () => api });
}

/** Adds routes with the errors and the OpenAPI document of the run API. */
export async function addApi(server: FastifyInstance, place: ApiPlace): Promise<void> {
  await server.register(
    async (scope) => {
      scope.addHook('onRequest', async (http, reply) => {
        void reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
        place.admit?.(http);
      });
      scope.setErrorHandler((error, request, reply) => sendError(error, { request, reply }));
      scope.setNotFoundHandler((request, reply) =>
        sendError(new ApiError(404, 'PATH_NOT_FOUND', 'could not find anything at this path for this method'), {
          ...{ request, reply },
        }),
      );
      for (const route of place.routes) addRoute(scope, route, place);
      const document = JSON.stringify(renderOpenApi(place.routes, place.prefix));
      scope.get('/openapi.json', async (http, reply) => {
        const { unread } = await place.find(http);
        sendJson(reply, { text: document, unread });
        return reply;
      });
    },
    { prefix: routerPath(place.prefix) },
  );
}

/** The path in the router's syntax: a colon is written twice, and a parameter before it must exclude it. */
function routerPath(path: string): string {
  return path.replace(/:([a-zA-Z]+)$/, '::$1').replaceAll(/\{(\w+)\}/g, ':$1(^[^:/]+)');
}

function addRoute(server: FastifyInstance, route: ApiRoute, { find }: ApiPlace): void {
  const { body } = route;
  server.route({
    method: route.method,
    url: routerPath(route.path),
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    // The service names requests in its log and metrics by this.
    config: { operation: route.operationId } as object,
    handler: async (http, reply) => {
      if (route.method !== 'GET') await rejectAbandoned(http);
      const api = await find(http);
      if (route.method === 'GET') rejectUnread(api.unread);
      const request: ApiRequest = {
        ...{ api, http, reply, newRunId: createRunId() },
        at: http.params as ApiRequest['at'],
        query: parse(route.query, http.query, 'query parameter') as Record<string, unknown>,
        body: body && parse(body, http.body ?? {}, 'key'),
      };
      const { orders } = api;
      const isAction = route.method === 'POST';
      const act = () =>
        isAction ? answerOnce(request, (newRunId) => route.handle({ ...request, newRunId })) : route.handle(request);
      const isAlone = (isAction || route.method === 'DELETE') && orders !== undefined && request.at.runId !== undefined;
      const perform = () => (isAlone ? orders.exclude(request.at.runId!, act) : act());
      const release = route.reply === 'bytes' ? countDownload(api.downloads) : undefined;
      try {
        if (route.method !== 'GET') return await api.change(perform);
        const value = await perform();
        // Otherwise, the route has sent the reply itself: to its end, or until the client has gone.
        if (value !== undefined && !reply.sent) sendJson(reply, { text: JSON.stringify(value), unread: api.unread });
        return reply;
      } catch (error) {
        throw (await findRemoval(error, request)) ?? error;
      } finally {
        release?.();
      }
    },
  });
}

/**
 * Throws if the client has closed the connection: it has reported that it has no reply, perhaps long ago, if this process was
 * stopped. Only the clients of one machine share a clock, so a request over HTTP has no deadline.
 */
async function rejectAbandoned({ raw: { socket } }: FastifyRequest): Promise<void> {
  // The end of a connection is read after the request, when the event loop polls for the second time.
  for (let turn = 0; turn < 2; turn++) await nextTurn();
  if (!socket.readableEnded && !socket.destroyed) return;
  throw new ApiError(408, 'CLIENT_GONE', 'could not perform the request: its client has closed the connection');
}

/** Why a run is missing that the server had. */
async function findRemoval(error: unknown, { api, at }: ApiRequest): Promise<ApiError | undefined> {
  if (!(error instanceof ApiError) || error.reason !== 'RUN_NOT_FOUND' || at.runId === undefined) return undefined;
  return isRunId(at.runId) ? api.orders?.findRemoval(at.runId) : undefined;
}

function parse(schema: z.ZodType, value: unknown, kind: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path.join('.');
  const why = issue?.code === 'unrecognized_keys' ? 'is unknown' : describeIssue(issue?.message ?? 'is invalid');
  throw new ApiError(400, 'PARAMETER_INVALID', `could not use the ${kind} '${name}': it ${why}`);
}

function sendError(error: unknown, { request, reply }: { request: FastifyRequest; reply: FastifyReply }): FastifyReply {
  const body = renderError(error);
  if (body.code >= 500 && !(error instanceof ApiError))
    request.log.error({ err: error, url: request.url }, 'a request failed');
  const { retryAfterMs } = error as { retryAfterMs?: number };
  if (retryAfterMs !== undefined) void reply.header('retry-after', Math.max(1, Math.ceil(retryAfterMs / 1000)));
  if (body.code === 401) void reply.header('www-authenticate', 'Bearer');
  if (error instanceof RangeError416) void reply.header('content-range', `bytes */${error.size}`);
  return reply.code(body.code).send(body);
}
