import { chmodSync, readFileSync, unlinkSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { ListenAddress, ListenOptions } from '../service.ts';
import { LOCAL_ORIGIN, webDavUrl } from '../service-calls.ts';
import type { ServiceCore } from '../service-core.ts';
import { createWebDavHandler, type WebDavHandler } from '../volumes/webdav/webdav-handler.ts';
import { createApi } from './create-api.ts';
import { createMetrics, type Metrics } from './metrics.ts';

/** One address that the service is reached at. */
export interface HttpListener {
  readonly address: ListenAddress;
  /** Takes no more requests, ends followed logs, waits for the rest, and after a while cuts what is left. */
  close(): Promise<void>;
}

const DRAIN_MS = 10_000;
const DAV_PREFIX = '/dav/';

/** What all listeners of a service share: locks and throttles hold whatever the address they are met at. */
export interface HttpFront {
  listen(options: ListenOptions): Promise<HttpListener>;
  /** Cuts what is under way over WebDAV. */
  close(): void;
}

export function createHttpFront(core: ServiceCore): HttpFront {
  const metrics = createMetrics();
  const dav = createWebDavHandler(core.volumeAccess, {
    prefixOf: ({ clusterID, accountID, volumeID }) => `${DAV_PREFIX}${clusterID}/${accountID}/${volumeID}`,
    throttle: core.transferThrottle,
    onError: (error, { method }) => core.log.error({ err: error, method }, 'a WebDAV request failed'),
  });
  return { listen: (options) => listen({ core, metrics, dav }, options), close: () => dav.close() };
}

/** Serves the API, and WebDAV beside it, at an address. */
async function listen(
  { core, metrics, dav }: { core: ServiceCore; metrics: Metrics; dav: WebDavHandler },
  options: ListenOptions,
): Promise<HttpListener> {
  const closing = new AbortController();
  let origin = LOCAL_ORIGIN;
  const api = createApi(core, {
    metrics,
    closing: closing.signal,
    principal: 'socketPath' in options ? options.principal : undefined,
    address: (volume) => ({
      webdav: webDavUrl(core.config.publicUrl?.replace(/\/$/, '') ?? origin, volume),
      ...core.sftpAddress(),
    }),
    serverFactory: (handler) =>
      openServer(core, options, (request, reply) => {
        if (request.url?.startsWith(DAV_PREFIX)) dav(request, reply);
        else handler(request, reply);
      }),
  });
  await api.ready();
  if ('socketPath' in options) await removeStaleSocket(options.socketPath);
  await api.listen('socketPath' in options ? { path: options.socketPath } : { host: options.host, port: options.port });
  const address = addressOf(core, options, api.server);
  origin = address.url;
  return {
    address,
    async close() {
      closing.abort();
      const cut = setTimeout(() => api.server.closeAllConnections(), DRAIN_MS);
      await api.close();
      clearTimeout(cut);
    },
  };
}

function openServer(core: ServiceCore, options: ListenOptions, handler: RequestListener): Server {
  // No limit on a whole request: an upload of many gigabytes is one. Bodies of API calls have their own deadline.
  const settings = { requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 75_000, maxHeaderSize: 32_768 };
  const { tls } = core.config;
  if (tls === undefined || 'socketPath' in options) return createServer(settings, handler);
  const server = createTlsServer(
    { ...settings, cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) },
    handler,
  );
  return server as unknown as Server;
}

function addressOf(core: ServiceCore, options: ListenOptions, server: Server): ListenAddress {
  if ('socketPath' in options) {
    // Whoever can open the file is let in, at most as the principal of this listener.
    chmodSync(options.socketPath, 0o600);
    return { url: LOCAL_ORIGIN, socketPath: options.socketPath };
  }
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : options.port;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `${core.config.tls === undefined ? 'http' : 'https'}://${host}:${port}`, port };
}

/** A socket file that a killed service left behind is in the way; one that answers belongs to somebody. */
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
