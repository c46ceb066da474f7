import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { closeWaitingReplies } from '../protocol/close-waiting-replies.ts';
import { createHandshakeCut } from '../protocol/handshake-cut.ts';
import { checkRequest } from './check-request.ts';
import { forwardRequest, type UpstreamFault } from './forward-request.ts';
import { forwardUpgrade, rejectUpgrade } from './forward-upgrade.ts';
import { createRouteTable, type RouteTable } from './route-table.ts';

/** A certificate and its key in PEM. `cert` is the chain, beginning with the server's own. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** The initial certificate of the proxy. */
export interface PortProxyOptions {
  /** Must be valid for every routed host, so it is usually a wildcard. */
  readonly certificate: Certificate;
}

/** The HTTPS server for exposed ports: each has a host name that is served as long as it has a route. */
export interface PortProxy {
  readonly routes: Pick<RouteTable, 'add' | 'remove' | 'hosts'>;
  /** Sets a renewed certificate for new connections. */
  setCertificate(certificate: Certificate): void;
  listen(at: { host: string; port: number }): Promise<{ host: string; port: number }>;
  /** Stops listening and aborts requests in progress. */
  close(): Promise<void>;
}

/** The proxy serves nothing before `listen`. */
export function createPortProxy(options: PortProxyOptions): PortProxy {
  const routes = createRouteTable();
  const server = createServer({
    ...options.certificate,
    minVersion: 'TLSv1.2',
    handshakeTimeout: 20_000,
    requireHostHeader: false,
    // Detects clients that disappear without closing their WebSocket.
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  });
  // Uploads may take hours; the time for a request's head is limited by `headersTimeout`.
  server.requestTimeout = 0;
  // Node drops headers above a maximum number, possibly the one that delimits the body: the application would treat the body
  // as the next request. The size of the head is limited anyway.
  server.maxHeadersCount = 0;
  closeWaitingReplies(server);
  const cutHandshakes = createHandshakeCut(server);
  server.on('request', (request: IncomingMessage, reply: ServerResponse) => {
    const checked = checkRequest(request, { routes, serverName: serverNameOf(request.socket) });
    if (!checked.ok) return reject(reply, checked);
    forwardRequest(checked.route, request, { reply, target: checked.target, reject: (fault) => reject(reply, fault) });
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      return rejectUpgrade(socket, { status: 400, message: 'only upgrades to WebSocket are supported' });
    }
    if (request.method !== 'GET' || hasBody(request)) {
      return rejectUpgrade(socket, {
        status: 400,
        message: 'the handshake of a WebSocket must be a GET without a body',
      });
    }
    const checked = checkRequest(request, { routes, serverName: serverNameOf(request.socket) });
    if (!checked.ok) return rejectUpgrade(socket, checked);
    forwardUpgrade(checked.route, request, { socket, head, target: checked.target });
  });

  return {
    routes,
    setCertificate: (certificate) => server.setSecureContext({ ...certificate, minVersion: 'TLSv1.2' }),
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const address = server.address() as AddressInfo;
          resolve({ host: address.address, port: address.port });
        });
      }),
    close: () =>
      new Promise((resolve) => {
        for (const host of routes.hosts()) routes.remove(host);
        server.close(() => resolve());
        server.closeAllConnections();
        cutHandshakes();
      }),
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/** The server name of the TLS handshake; undefined without one. */
function serverNameOf(socket: object): string | undefined {
  const { servername } = socket as TLSSocket & { servername?: string | false };
  return typeof servername === 'string' && servername !== '' ? servername : undefined;
}

function reject(reply: ServerResponse, fault: { status: number; message: string } | UpstreamFault): void {
  const body = Buffer.from(`${fault.message}\n`);
  reply.writeHead(fault.status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': body.length,
    'x-content-type-options': 'nosniff',
    // Further data on this connection may be part of the rejected request.
    connection: 'close',
    ...(fault.status === 503 ? { 'retry-after': '1' } : {}),
  });
  reply.end(body);
}
