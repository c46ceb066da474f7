import { chmodSync, unlinkSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';
import { LOCAL_ORIGIN, webDavUrl } from '../calls/service-calls.ts';
import { closeWaitingReplies } from '../protocol/close-waiting-replies.ts';
import { createHandshakeCut } from '../protocol/handshake-cut.ts';
import { type KeptCertificate, keepCertificate } from '../proxy/keep-certificate.ts';
import { FILES_LOOK_MS, readCertificate } from '../proxy/read-certificate.ts';
import { createWebDavHandler, type WebDavHandler } from '../volumes/webdav/webdav-handler.ts';
import { DAV_PREFIX, webDavPath } from '../volumes/webdav/webdav-path.ts';
import { createApi } from './create-api.ts';
import type { ListenAddress, Listener, ListenOptions } from './listen-options.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { ServedService } from './served-service.ts';

const DRAIN_MS = 10_000;

/** All HTTP listeners of a service. They share WebDAV locks, throttles and metrics, whatever their address. */
export interface HttpFront {
  listen(options: ListenOptions): Promise<Listener>;
  /** Reads the certificate files now instead of at the next interval. */
  refreshCertificate(): Promise<void>;
  /** Ends WebDAV requests in progress. Listeners are closed one by one, by their own `close`. */
  close(): void;
}

/** Opens nothing until `listen`. */
export function createHttpFront(service: ServedService): HttpFront {
  const metrics = createMetrics();
  const dav = createWebDavHandler(service.volumeAccess, {
    prefixOf: ({ volumeID, ...scope }) => webDavPath({ ...scope, id: volumeID }),
    throttle: service.transferThrottle,
    addressOf: (request) => proxyAddress(request, [...service.config.trustedProxies]),
    onError: (error, { method }) => service.log.error({ err: error, method }, 'a WebDAV request failed'),
  });
  const { tls } = service.config;
  let opening: Promise<KeptCertificate> | undefined;
  let certificate: KeptCertificate | undefined;
  return {
    async listen(options) {
      if (tls === undefined || 'socketPath' in options) return listen({ service, metrics, dav }, options);
      opening ??= keepCertificate({ read: () => readCertificate(tls), everyMs: FILES_LOOK_MS, ...service });
      try {
        certificate = await opening;
      } finally {
        // If it could not be read, the next listener tries again.
        if (certificate === undefined) opening = undefined;
      }
      return listen({ service, metrics, dav, certificate }, options);
    },
    async refreshCertificate() {
      await certificate?.refresh();
    },
    close() {
      certificate?.stop();
      dav.close();
    },
  };
}

/** What a listener serves; over HTTPS if there is a certificate. */
interface Served {
  readonly service: ServedService;
  readonly metrics: Metrics;
  readonly dav: WebDavHandler;
  readonly certificate?: KeptCertificate;
}

/** Serves the API and WebDAV at one address. */
async function listen(served: Served, options: ListenOptions): Promise<Listener> {
  const { service, metrics } = served;
  const closing = new AbortController();
  let origin = LOCAL_ORIGIN;
  const api = createApi(service, {
    metrics,
    closing: closing.signal,
    principal: 'socketPath' in options ? options.principal : undefined,
    address: (volume) => ({
      webdav: webDavUrl(service.config.publicUrl?.replace(/\/$/, '') ?? origin, volume),
      ...service.sftpAddress(),
    }),
    serverFactory: (handler) =>
      openServer(served.certificate, {
        handler(request, reply) {
          // Below the prefix, a slash at the end has a meaning; the handler ignores repeated ones. A target can be a whole URL.
          request.url = request.url?.replace(/^(?:[a-zA-Z]+:\/\/[^/?#]*)?\/+dav\/+/, DAV_PREFIX);
          if (request.url?.startsWith(DAV_PREFIX)) serveWebDav(served, request, reply);
          else handler(request, reply);
        },
        closing: closing.signal,
      }),
  });
  await api.ready();
  if ('socketPath' in options) await removeStaleSocket(options.socketPath);
  await api.listen('socketPath' in options ? { path: options.socketPath } : { host: options.host, port: options.port });
  const address = addressOf(service, options, api.server);
  origin = address.url;
  return {
    ...address,
    async close() {
      closing.abort();
      const cut = setTimeout(() => api.server.closeAllConnections(), DRAIN_MS);
      await api.close();
      clearTimeout(cut);
    },
  };
}

/** Handles a WebDAV request with an ID, a log line and metrics, as the API's requests have them. */
function serveWebDav({ service, metrics, dav }: Served, request: IncomingMessage, reply: ServerResponse): void {
  const reqId = crypto.randomUUID();
  const begin = performance.now();
  reply.setHeader('x-request-id', reqId);
  reply.once('close', () => {
    const ms = performance.now() - begin;
    const status = reply.writableFinished ? reply.statusCode : 499;
    metrics.observe({ operation: 'webdav', status, seconds: ms / 1000 });
    const { method, url = '' } = request;
    // File names are not logged, for privacy.
    const volume = url.slice(DAV_PREFIX.length).split('/', 3).join('/');
    service.log.info({ reqId, operation: 'webdav', method, volume, status, ms: Math.round(ms * 10) / 10 }, 'request');
  });
  dav(request, reply);
}

function openServer(
  certificate: KeptCertificate | undefined,
  { handler, closing }: { handler: RequestListener; closing: AbortSignal },
): Server {
  // No timeout for a whole request, since an upload may have many gigabytes. Bodies of API calls have their own deadline.
  const settings = {
    ...{ requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 75_000, maxHeaderSize: 32_768 },
    // Otherwise a client that disappears while it follows a log or uploads keeps its connection open forever.
    ...{ keepAlive: true, keepAliveInitialDelay: 60_000 },
  };
  const server = certificate === undefined ? createServer(settings) : openTlsServer(certificate, { settings, closing });
  closeWaitingReplies(server);
  return server.on('request', handler);
}

function openTlsServer(
  certificate: KeptCertificate,
  { settings, closing }: { settings: ServerOptions; closing: AbortSignal },
): Server {
  const server = createTlsServer({ ...settings, ...certificate.current(), handshakeTimeout: 20_000 });
  closing.addEventListener('abort', createHandshakeCut(server));
  const forget = certificate.onRenewed((renewed) => server.setSecureContext(renewed));
  server.once('close', forget);
  return server as unknown as Server;
}

function addressOf(service: ServedService, options: ListenOptions, server: Server): ListenAddress {
  if ('socketPath' in options) {
    // Every process that can open the file may connect, so only the service's user may.
    chmodSync(options.socketPath, 0o600);
    return { url: LOCAL_ORIGIN, socketPath: options.socketPath };
  }
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : options.port;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `${service.config.tls === undefined ? 'http' : 'https'}://${host}:${port}`, port };
}

/** Removes the socket file of a killed service; rejects if another process listens on it. */
function removeStaleSocket(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      reject(new Error(`could not listen on ${path} because another process does`));
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') unlinkSync(path);
      resolve();
    });
  });
}
