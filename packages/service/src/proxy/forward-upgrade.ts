import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { NO_REPLY, openUpstream, replyHead, type UpstreamFault, upstreamFault } from './forward-request.ts';
import { replyHeaders, requestHeaders } from './forwarded-headers.ts';
import type { Route } from './route-table.ts';

/** Forwards a WebSocket: the handshake, and then all bytes both ways until one side ends. Never throws. */
export function forwardUpgrade(
  route: Route,
  request: IncomingMessage,
  options: { socket: Duplex; head: Buffer; target: string },
): void {
  const { socket, head, target } = options;
  const headers = [...requestHeaders(request), 'Connection', 'Upgrade', 'Upgrade', 'websocket'];
  const upstream = openUpstream(route, request, { target, headers });
  const exchange = {
    abort: () => {
      upstream.destroy();
      socket.destroy();
    },
  };
  route.exchanges.add(exchange);
  socket.once('close', () => {
    route.exchanges.delete(exchange);
    upstream.destroy();
  });
  socket.on('error', () => socket.destroy());
  let isAnswered = false;
  // After the response has begun, its own stream reports how it ends.
  upstream.on('error', (error) => {
    if (!isAnswered) rejectUpgrade(socket, upstreamFault(error));
  });
  upstream.on('response', (answer) => {
    isAnswered = true;
    // The application rejects the upgrade with an ordinary response.
    const given = replyHead(answer);
    if (given === undefined) {
      upstream.destroy();
      return rejectUpgrade(socket, NO_REPLY);
    }
    socket.write(renderHead(given, [...replyHeaders(answer), 'Connection', 'close']), 'latin1');
    answer.on('error', () => socket.destroy());
    answer.pipe(socket);
  });
  upstream.on('upgrade', (answer, upstreamSocket, upstreamHead) => {
    isAnswered = true;
    socket.once('close', () => upstreamSocket.destroy());
    upstreamSocket.on('error', () => socket.destroy());
    upstreamSocket.once('close', () => socket.destroy());
    const switched = { status: 101, reason: STATUS_CODES[101] ?? '' };
    const named = [...replyHeaders(answer), 'Connection', 'Upgrade', 'Upgrade', 'websocket'];
    socket.write(renderHead(switched, named), 'latin1');
    if (upstreamHead.length > 0) socket.write(upstreamHead);
    if (head.length > 0) upstreamSocket.write(head);
    upstreamSocket.pipe(socket);
    socket.pipe(upstreamSocket);
  });
  upstream.end();
}

/** Rejects a handshake and closes the connection. */
export function rejectUpgrade(socket: Duplex, fault: { status: number; message: string } | UpstreamFault): void {
  if (socket.destroyed) return;
  const body = `${fault.message}\n`;
  const head = [
    `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status] ?? ''}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function renderHead(line: { status: number; reason: string }, headers: readonly string[]): string {
  const lines = [`HTTP/1.1 ${line.status} ${line.reason}`];
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
