import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { own } from '@sluice/client';
import { plainError } from './error-reply.ts';

/** Status and cause by Node's error code. */
const REPLIES: Readonly<Record<string, readonly [status: number, why: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'it did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'its target and headers are too long'],
};
const NO_HTTP = [400, 'it is not HTTP/1.1'] as const;

/**
 * Replies to bytes that are not a valid request, and closes the connection. While the reply to an earlier request is being
 * sent, it sends nothing: the client would read it as part of that reply. An earlier reply that has not begun is completed.
 */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  const { _httpMessage: reply } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (reply?.headersSent === false && reply.req.complete) {
    socket.pause();
    reply.once('finish', () => socket.destroySoon());
    return;
  }
  if (socket.writable && reply?.headersSent !== true) {
    const [status, why] = own(REPLIES, error.code ?? '') ?? NO_HTTP;
    const text = JSON.stringify(plainError(status, `could not read the request because ${why}`).body);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  }
  socket.destroy();
}
