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

/** What became of an upstream that gave no reply. */
export interface UpstreamFault {
  readonly status: 502 | 503;
  readonly message: string;
}

/**
 * Opens the request to the application. A connection of its own each time: on loopback it costs next to nothing, and a
 * kept one could outlive its route or break under a request that cannot be repeated.
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

/** What the application has sent in the place of a reply: a status that none can have, or an upgrade unasked. */
export const NO_REPLY: UpstreamFault = { status: 502, message: 'the application in the container sent no valid reply' };

/**
 * The status line to give to the client. Undefined for a status that no reply ends with: Node's parser takes any three
 * digits and any bytes after them, and its own writing of most of them throws.
 */
export function replyHead({
  statusCode = 0,
  statusMessage = '',
}: IncomingMessage): { readonly status: number; readonly reason: string } | undefined {
  if (statusCode < 200) return undefined;
  const isWritable = /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage);
  return { status: statusCode, reason: isWritable ? statusMessage : (STATUS_CODES[statusCode] ?? '') };
}

/** 503 for an application that does not listen (yet): a client may come again; 502 for one that broke off. */
export function upstreamFault(error: unknown): UpstreamFault {
  const code = systemErrorCode(error);
  if (code === NOT_OWNED) return { status: 503, message: 'another program listens on the port of the container' };
  const absent = ['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code ?? '');
  return absent
    ? { status: 503, message: 'the application in the container does not listen on its port' }
    : { status: 502, message: 'the application in the container broke off the connection' };
}

/** Carries one request to the application and its reply back, streaming both ways. Never throws. */
export function forwardRequest(
  route: Route,
  request: IncomingMessage,
  options: { reply: ServerResponse; target: string; refuse: (fault: UpstreamFault) => void },
): void {
  const { reply, target, refuse } = options;
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
  // Once there is an answer, it is the answer that knows whether it has come to its end.
  upstream.on('error', (error) => {
    if (!reply.headersSent && !reply.destroyed) refuse(upstreamFault(error));
  });
  upstream.on('response', (answer) => {
    const head = replyHead(answer);
    if (head === undefined) {
      upstream.destroy();
      return refuse(NO_REPLY);
    }
    reply.writeHead(head.status, head.reason, replyHeaders(answer));
    // Server-sent events may be long in coming: what the browser waits for is the head. `flushHeaders` would take its
    // bytes for characters and encode them once more.
    reply.write(NOTHING);
    pipeline(answer, reply).catch(() => reply.destroy());
  });
  upstream.on('upgrade', (_, socket) => {
    socket.destroy();
    refuse(NO_REPLY);
  });
  sendBody(request, upstream);
}

/** An application may answer without reading on: the client is heard to the end, since only then it reads the answer. */
function sendBody(request: IncomingMessage, upstream: ClientRequest): void {
  request.pipe(upstream);
  request.on('error', () => {});
  // A client that goes in the middle must not look like the end of its body.
  request.once('close', () => {
    if (!request.complete) upstream.destroy();
  });
  upstream.once('close', () => {
    request.unpipe(upstream);
    request.resume();
  });
}
