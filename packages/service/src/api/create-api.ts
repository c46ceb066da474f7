import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { isServiceError } from '@sluice/client';
import { parseDuration } from '@sluice/core';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify';
import { createLoginThrottle } from '../accounts/login-throttle.ts';
import type { Principal } from '../accounts/principal.ts';
import { createTokens } from '../accounts/tokens.ts';
import type { LogStream } from '../calls/container-calls.ts';
import type { TransferAddress } from '../calls/volume-calls.ts';
import { addExtension } from './add-extension.ts';
import { addLoginWatch } from './add-login-watch.ts';
import { answerUnreadable } from './answer-unreadable.ts';
import type { ApiRequest, ApiRoute } from './api-route.ts';
import { routerPath } from './api-route.ts';
import { canonicalTarget } from './canonical-target.ts';
import { plainError, renderError } from './error-reply.ts';
import { loginHandler } from './login-route.ts';
import type { Metrics } from './metrics.ts';
import { API_PREFIX, LOGIN_PATH } from './openapi.ts';
import { addOperations } from './operations.ts';
import { parseQuery } from './parse-query.ts';
import { principalOf, tokenOf } from './principal-of.ts';
import { addRequestBodies, isForm, unsupportedBody } from './request-bodies.ts';
import { ROUTES } from './routes.ts';
import { createReplySignals, sendStream } from './send-stream.ts';
import type { ServedService } from './served-service.ts';

/** Enough for ten thousand mounts with paths and mount points of a few hundred characters. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** What differs between the listeners of one service. */
export interface ApiOptions {
  /** Creates the server that the API runs in; called once. */
  readonly serverFactory: (handler: RequestListener) => Server;
  /** The principal of all callers, without authentication; set for a trusted socket. */
  readonly principal?: Principal | undefined;
  readonly address: TransferAddress;
  readonly metrics: Metrics;
  /** Aborted when the listener closes, which ends followed logs. */
  readonly closing: AbortSignal;
}

/** Creates the API as a Fastify instance that does not listen yet. The caller closes it. */
export function createApi(service: ServedService, options: ApiOptions): FastifyInstance {
  const api = Fastify<RawServerDefault>({
    loggerInstance: service.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    trustProxy: service.config.trustedProxies.length > 0 ? [...service.config.trustedProxies] : false,
    serverFactory: (handler) => options.serverFactory(handler as RequestListener),
    rewriteUrl: ({ url = '/' }: IncomingMessage) => canonicalTarget(url),
    routerOptions: { maxParamLength: 512 },
    forceCloseConnections: 'idle',
    // Hooks and handlers do not run for requests that these two answer.
    frameworkErrors(error, request, reply) {
      const { status, body } = plainError(error.statusCode ?? 400, `could not read the request: ${error.message}`);
      (reply as unknown as FastifyReply).code(status).headers(commonHeaders(request.id)).send(body);
    },
    clientErrorHandler: answerUnreadable,
    genReqId: () => crypto.randomUUID(),
  }) as unknown as FastifyInstance;
  addAccounting(api, options.metrics);
  addRequestBodies(api, service.clock);
  addErrors(api);
  const tokens = createTokens({
    ...{ store: service.store, clock: service.clock },
    lifetimeMs: parseDuration(service.config.login.tokenLifetime),
    isAccount: ({ clusterID, accountID }) =>
      service.clusters.get(clusterID)?.config.accounts.includes(accountID) === true,
  });
  const throttle = createLoginThrottle(service.clock);
  const authenticate = (request: FastifyRequest) => options.principal ?? principalOf(request, tokens.principalOf);
  const signalOf = createReplySignals(options.closing);
  addLoginWatch(api, { tokens, closing: options.closing });
  for (const route of ROUTES) addRoute(api, route, { service, options, authenticate, signalOf });
  api.post(LOGIN_PATH, { config: { operation: 'login' } }, loginHandler(service, { throttle, tokens }));
  addOperations(api, service, options);
  if (service.extend !== undefined) addExtension(api, service.extend, { store: service.store, throttle, tokens });
  return api;
}

interface RouteContext {
  readonly service: ServedService;
  readonly options: ApiOptions;
  readonly authenticate: (request: FastifyRequest) => Principal;
  readonly signalOf: (reply: FastifyReply) => AbortSignal;
}

function addRoute(api: FastifyInstance, route: ApiRoute, context: RouteContext): void {
  const { service, options, authenticate, signalOf } = context;
  api.route({
    method: route.method,
    url: API_PREFIX + routerPath(route.path),
    config: { operation: route.operationId },
    // Authenticate before the body is read.
    onRequest: async (request) => {
      request.principal = authenticate(request);
      request.token = options.principal === undefined ? tokenOf(request) : undefined;
      // Only the login accepts a form. Here its fields would be treated as those of a JSON body.
      if (isForm(request)) throw unsupportedBody();
    },
    handler: async (request, reply) => {
      const result = await route.handle({
        calls: service.calls,
        principal: request.principal!,
        at: request.params as ApiRequest['at'],
        query: parseQuery(route.query, request.query as Record<string, unknown>),
        body: request.body,
        signal: route.reply === 'text' ? signalOf(reply) : options.closing,
        address: options.address,
      });
      if (route.reply === 'nothing') return reply.code(204).send();
      if (route.reply === 'text') return sendStream(reply, result as LogStream, options.closing);
      if (typeof result === 'string') void reply.type('application/json; charset=utf-8');
      return result;
    },
  });
}

function addErrors(api: FastifyInstance): void {
  api.setErrorHandler((error, request, reply) => {
    const isMalformedType = (error as { code?: unknown }).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE';
    const { status, headers, body } = renderError(isMalformedType ? unsupportedBody() : error);
    // The store has logged the cause once. A stack for each request might fill the same disk.
    const isStore = isServiceError(error) && (error.reason === 'STORE_FULL' || error.reason === 'STORE_UNAVAILABLE');
    if (isStore || status === 507)
      request.log.warn({ reason: body.message, url: request.url }, 'a request was rejected');
    else if (status >= 500) request.log.error({ err: error, url: request.url }, 'a request failed');
    // Published clients print `msg` if a login fails.
    const alias = request.routeOptions.url === LOGIN_PATH ? { msg: body.message } : {};
    return reply
      .code(status)
      .headers(headers)
      .send({ ...body, ...alias });
  });
  api.setNotFoundHandler((_, reply) => {
    const { status, body } = plainError(404, 'could not find anything at this path for this method', 'PATH_NOT_FOUND');
    return reply.code(status).send(body);
  });
}

function commonHeaders(requestId: string): Record<string, string> {
  return { 'x-request-id': requestId, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
}

function addAccounting(api: FastifyInstance, metrics: Metrics): void {
  api.decorateRequest('principal', undefined);
  api.decorateRequest('token', undefined);
  // Set early, because a stream hijacks the reply and later hooks do not see it.
  api.addHook('onRequest', async (request, reply) => {
    void reply.headers(commonHeaders(request.id));
  });
  api.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.config.operation ?? 'unknown';
    metrics.observe({ operation, status: reply.statusCode, seconds: reply.elapsedTime / 1000 });
    request.log.info(
      {
        operation,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        user: request.principal?.userId,
      },
      'request',
    );
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined;
    /** With which the principal was authenticated; undefined for the callers of a trusted socket. */
    token: string | undefined;
  }
  interface FastifyContextConfig {
    /** The name of the request in metrics and the log. */
    operation?: string;
  }
}
