import {
  type ClientRequest,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import { systemErrorCode } from '@sluice/host-system';
import { connectUpstream, NOT_OWNED } from './connect-upstream.ts';
import { replyHeaders, requestHeaders } from './forwarded-headers.ts';
import type { Route } from './route-table.ts';

const NOTHING = Buffer.alloc(0);

/** The response to the client if the application gave none. */
export interface UpstreamFault {
  readonly status: 502 | 503;
  readonly message: string;
}

/**
 * Opens the request to the application, with a new connection each time: on loopback this is cheap, and a reused connection
 * could outlive its route or break during a request that cannot be repeated.
 */
export function openUpstream(
  route: Route,
  message: IncomingMessage,
  options: { target: string; headers: string[] },
): ClientRequest {
  return openRequest({
    ...{ host: route.upstream.host, port: route.upstream.port, setHost: false },
    ...{ method: message.method, path: options.target, headers: options.headers },
    createConnection(_, done) {
      connectUpstream(route.upstream).then(
        (socket) => done(null, socket),
        (error: Error) => done(error, undefined as never),
      );
      return undefined;
    },
  });
}

/** The application sent no valid response: an impossible status, or an upgrade that was not requested. */
export const NO_REPLY: UpstreamFault = { status: 502, message: 'the application in the container sent no valid reply' };

/**
 * The status line for the client; undefined for a status that is not final. Node's parser accepts any three digits followed
 * by any bytes, but throws when it writes most of them.
 */
export function replyHead({
  statusCode = 0,
  statusMessage = '',
}: IncomingMessage): { readonly status: number; readonly reason: string } | undefined {
  if (statusCode < 200) return undefined;
  const isWritable = /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage);
  return { status: statusCode, reason: isWritable ? statusMessage : (STATUS_CODES[statusCode] ?? '') };
}

/** 503 if the application does not listen (yet), so that clients may retry; 502 if it closed the connection. */
export function upstreamFault(error: unknown): UpstreamFault {
  const code = systemErrorCode(error);
  if (code === NOT_OWNED) return { status: 503, message: 'another program listens on the port of the container' };
  const absent = ['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code ?? '');
  return absent
    ? { status: 503, message: 'the application in the container does not listen on its port' }
    : { status: 502, message: 'the application in the container closed the connection' };
}

/** Forwards one request to the application and its response to the client, streaming both. Never throws. */
export function forwardRequest(
  route: Route,
  request: IncomingMessage,
  options: { reply: ServerResponse; target: string; reject: (fault: UpstreamFault) => void },
): void {
  const { reply, target, reject } = options;
  const upstream = openUpstream(route, request, { target, headers: requestHeaders(request) });
  const exchange = {
    abort: () => {
      upstream.destroy();
      reply.destroy();
    },
  };
  route.exchanges.add(exchange);
  reply.once('close', () => {
    route.exchanges.delete(exchange);
    upstream.destroy();
  });
  // After the response has begun, its own stream reports how it ends.
  upstream.on('error', (error) => {
    if (!reply.headersSent && !reply.destroyed) reject(upstreamFault(error));
  });
  upstream.on('response', (answer) => {
    const head = replyHead(answer);
    if (head === undefined) {
      upstream.destroy();
      return reject(NO_REPLY);
    }
    reply.writeHead(head.status, head.reason, replyHeaders(answer));
    // The head is sent immediately, because the body (such as server-sent events) may take long to begin. `flushHeaders`
    // would encode the header's bytes a second time.
    reply.write(NOTHING);
    pipeline(answer, reply).catch(() => reply.destroy());
  });
  upstream.on('upgrade', (_, socket) => {
    socket.destroy();
    reject(NO_REPLY);
  });
  sendBody(request, upstream);
}

/**
 * An application may respond without reading the whole request. The rest is read from the client and dropped, because
 * clients read the response only after sending.
 */
function sendBody(request: IncomingMessage, upstream: ClientRequest): void {
  request.pipe(upstream);
  request.on('error', () => {});
  // A disconnected client must not look like the end of its body.
  request.once('close', () => {
    if (!request.complete) upstream.destroy();
  });
  upstream.once('close', () => {
    request.unpipe(upstream);
    request.resume();
  });
}
