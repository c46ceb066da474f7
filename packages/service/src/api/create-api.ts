import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
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
import type { Clock } from '../clock.ts';
import { Refusal } from '../refusal.ts';
import type { ServiceCore } from '../service-core.ts';
import type { TransferAddress } from '../volumes/volume-calls.ts';
import type { ApiRequest, ApiRoute } from './api-route.ts';
import { routerPath } from './api-route.ts';
import { plainError, renderError } from './error-reply.ts';
import { loginHandler } from './login-route.ts';
import type { Metrics } from './metrics.ts';
import { API_PREFIX, LOGIN_PATH, renderOpenApi } from './openapi.ts';
import { parseJson } from './parse-json.ts';
import { parseQuery } from './parse-query.ts';
import { ROUTES } from './routes.ts';

const DAY_MS = 86_400_000;
/** Ten thousand arguments of two hundred characters fit. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A body that is not there by then is not awaited. */
const BODY_DEADLINE_MS = 60_000;

export interface ApiOptions {
  /** Makes the server that the API is to live in; called once. */
  readonly serverFactory: (handler: RequestListener) => Server;
  /** Who every caller is, where the listener says so. */
  readonly principal?: Principal | undefined;
  readonly address: TransferAddress;
  readonly metrics: Metrics;
  /** Aborted when the listener closes: followed logs end. */
  readonly closing: AbortSignal;
}

/** The routes of the service in a Fastify instance, not yet listening. */
export function createApi(core: ServiceCore, options: ApiOptions): FastifyInstance {
  const api = Fastify<RawServerDefault>({
    loggerInstance: core.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY_BYTES,
    trustProxy: core.config.trustedProxies.length > 0 ? [...core.config.trustedProxies] : false,
    serverFactory: (handler) => options.serverFactory(handler as RequestListener),
    // The published clients' base address ends in a slash and their path begins with one.
    rewriteUrl: ({ url = '/' }: IncomingMessage) =>
      /^\/+user\/+api\/+login\/*(\?|$)/.test(url) ? url.replace(/^[^?]*/, LOGIN_PATH) : url,
    routerOptions: { maxParamLength: 512 },
    forceCloseConnections: 'idle',
    frameworkErrors(error, _, reply) {
      const { status, body } = plainError(error.statusCode ?? 400, `could not read the request: ${error.message}`);
      (reply as unknown as FastifyReply).code(status).send(body);
    },
    genReqId: () => crypto.randomUUID(),
  }) as unknown as FastifyInstance;
  addBodies(api, core.clock);
  addErrors(api);
  addAccounting(api, options.metrics);
  const tokens = createTokens({
    ...{ store: core.store, clock: core.clock },
    lifetimeMs: core.config.login.tokenDays * DAY_MS,
    isAccount: ({ clusterID, accountID }) => core.clusters.get(clusterID)?.config.accounts.includes(accountID) === true,
  });
  const throttle = createLoginThrottle(core.clock);
  const authenticate = (request: FastifyRequest) => options.principal ?? principalOf(request, tokens.principalOf);
  const signalOf = createReplySignals(options.closing);
  for (const route of ROUTES) addRoute(api, route, { core, options, authenticate, signalOf });
  api.post(LOGIN_PATH, { config: { operation: 'login' } }, loginHandler(core, { throttle, tokens }));
  addOperations(api, core, options);
  return api;
}

interface RouteContext {
  readonly core: ServiceCore;
  readonly options: ApiOptions;
  readonly authenticate: (request: FastifyRequest) => Principal;
  readonly signalOf: (reply: FastifyReply) => AbortSignal;
}

function addRoute(api: FastifyInstance, route: ApiRoute, context: RouteContext): void {
  const { core, options, authenticate, signalOf } = context;
  api.route({
    method: route.method,
    url: API_PREFIX + routerPath(route.path),
    config: { operation: route.operationID },
    // Before the body is read: who may not call is not listened to.
    onRequest: async (request) => {
      request.principal = authenticate(request);
      // Only the login takes a form: here its fields would pass for those of a JSON body.
      if (FORM.test(request.headers['content-type'] ?? '')) throw unsupportedBody();
    },
    handler: async (request, reply) => {
      const result = await route.handle({
        calls: core.calls,
        principal: request.principal!,
        at: request.params as ApiRequest['at'],
        query: parseQuery(route.query, request.query as Record<string, unknown>),
        body: request.body,
        signal: route.reply === 'text' ? signalOf(reply) : options.closing,
        address: options.address,
      });
      if (route.reply === 'nothing') return reply.code(204).send();
      if (route.reply === 'text') return sendStream(reply, result as AsyncIterable<Uint8Array>);
      if (typeof result === 'string') void reply.type('application/json; charset=utf-8');
      return result;
    },
  });
}

/**
 * Signals that are aborted once a reply is done, its reader has gone, or `closing` is. `AbortSignal.any` would do, but
 * keeps some kilobytes for each request for as long as the listener lives.
 */
function createReplySignals(closing: AbortSignal): (reply: FastifyReply) => AbortSignal {
  const open = new Set<AbortController>();
  closing.addEventListener('abort', () => {
    for (const controller of open) controller.abort();
  });
  return (reply) => {
    const controller = new AbortController();
    open.add(controller);
    reply.raw.once('close', () => {
      open.delete(controller);
      controller.abort();
    });
    if (closing.aborted) controller.abort();
    return controller.signal;
  };
}

/** Headers go out at once, since a followed log may stay silent for long. */
async function sendStream(reply: FastifyReply, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  reply.hijack();
  reply.raw.writeHead(200, { ...reply.getHeaders(), 'content-type': 'text/plain; charset=utf-8' } as Record<
    string,
    string
  >);
  reply.raw.flushHeaders();
  try {
    await pipeline(Readable.from(bytes, { objectMode: false, highWaterMark: 1 }), reply.raw);
  } catch (error) {
    // The status is out; a cut connection tells the client that this is not the end of the log.
    reply.log.debug({ err: error }, 'a log was not sent to its end');
    reply.raw.destroy();
  }
}

function principalOf(request: FastifyRequest, find: (token: string) => Principal | undefined): Principal {
  const { authorization } = request.headers;
  const token = /^bearer ([A-Za-z0-9_.~+/=-]{1,512})$/i.exec(authorization ?? '')?.[1];
  if (authorization === undefined || authorization === '') {
    throw new Refusal('TOKEN_MISSING', 'could not accept the request without a token; log in and send it as Bearer');
  }
  const principal = token === undefined ? undefined : find(token);
  if (principal === undefined) {
    throw new Refusal('TOKEN_INVALID', 'could not accept the token because it is unknown or expired; log in again');
  }
  return principal;
}

function addBodies(api: FastifyInstance, clock: Clock): void {
  api.removeAllContentTypeParsers();
  api.decorateRequest('bodyHasCome', () => {});
  const parse = (read: (bytes: Buffer) => unknown) => (_: FastifyRequest, bytes: Buffer, done: ParseDone) => {
    try {
      done(null, read(bytes));
    } catch (error) {
      done(error as Error);
    }
  };
  api.addContentTypeParser(/^application\/(?:[\w.-]+\+)?json(?:;|$)/, { parseAs: 'buffer' }, parse(parseJson));
  api.addContentTypeParser(
    FORM,
    { parseAs: 'buffer' },
    parse((bytes) => Object.fromEntries(new URLSearchParams(bytes.toString()))),
  );
  api.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    parse((bytes) => {
      if (bytes.length === 0) return undefined;
      throw unsupportedBody();
    }),
  );
  api.addHook('onRequest', async (request) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      throw new Refusal('BODY_TYPE_UNSUPPORTED', 'could not read the body because it is compressed; send it as it is');
    }
    request.bodyHasCome = clock.after(BODY_DEADLINE_MS, () => void request.raw.destroy());
    request.raw.once('close', request.bodyHasCome);
  });
  // Not the `end` of the request, which never comes where nobody reads a body: a followed log was cut after a minute.
  api.addHook('preValidation', async (request) => request.bodyHasCome());
}

const FORM = /^application\/x-www-form-urlencoded(?:;|$)/;

function unsupportedBody(): Refusal {
  return new Refusal(
    'BODY_TYPE_UNSUPPORTED',
    'could not read the body because its Content-Type is not application/json',
  );
}

type ParseDone = (error: Error | null, body?: unknown) => void;

function addErrors(api: FastifyInstance): void {
  api.setErrorHandler((error, request, reply) => {
    const isMalformedType = (error as { code?: unknown }).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE';
    const { status, headers, body } = renderError(isMalformedType ? unsupportedBody() : error);
    if (status >= 500) request.log.error({ err: error, url: request.url }, 'a request failed');
    // Published clients print `msg` of a refused login.
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

function addAccounting(api: FastifyInstance, metrics: Metrics): void {
  api.decorateRequest('principal', undefined);
  api.addHook('onSend', async (request, reply) => {
    void reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });
  api.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.config.operation ?? 'unknown';
    metrics.observe({ operation, status: reply.statusCode, seconds: reply.elapsedTime / 1000 });
    request.log.info(
      {
        operation,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        user: request.principal?.userID,
      },
      'request',
    );
  });
}

/** What operators and their tools ask. */
function addOperations(api: FastifyInstance, core: ServiceCore, options: ApiOptions): void {
  const document = JSON.stringify(renderOpenApi(ROUTES));
  api.get('/openapi.json', { config: { operation: 'openapi' } }, (_, reply) =>
    reply.type('application/json').send(document),
  );
  api.get('/healthz', { config: { operation: 'healthz' } }, (_, reply) =>
    core.failure() === undefined ? reply.send({ status: 'ok' }) : reply.code(503).send({ status: 'the store failed' }),
  );
  api.get('/readyz', { config: { operation: 'readyz' } }, (_, reply) => {
    const engines = Object.fromEntries(
      [...core.clusters.values()].map(({ id, driver }) => [id, driver.unavailable ?? 'ready']),
    );
    const ready = core.failure() === undefined && Object.values(engines).every((state) => state === 'ready');
    return reply.code(ready && !options.closing.aborted ? 200 : 503).send({ ready, engines });
  });
  api.get('/metrics', { config: { operation: 'metrics' } }, (_, reply) =>
    reply.type('text/plain; version=0.0.4').send(options.metrics.render(core)),
  );
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined;
    /** Ends the time that the body has to come in. */
    bodyHasCome: () => void;
  }
  interface FastifyContextConfig {
    /** What the request is counted as. */
    operation?: string;
  }
}
