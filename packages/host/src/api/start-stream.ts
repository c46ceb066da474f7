import type { FastifyReply } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

/** The most streams that the clients of a home may follow at once: each keeps data in memory. */
const MAX_STREAMS = 64;
/** For a client whose stream was rejected. */
const RETRY_AFTER_MS = 5_000;

/** The streams of a home that clients follow. */
export interface Streams {
  open: number;
}

/**
 * Sends the headers of a reply without a known end. The signal is aborted when the client disconnects or the
 * server closes. Throws `ApiError` if there are too many streams.
 */
export function startStream(
  reply: FastifyReply,
  { type, closing, streams }: { readonly type: string; readonly closing: AbortSignal; readonly streams: Streams },
): AbortSignal {
  if (streams.open >= MAX_STREAMS) {
    const message = `could not follow anything more: ${MAX_STREAMS} streams of this home are open; close some`;
    const error = new ApiError(429, 'TOO_MANY_STREAMS', message);
    error.retryAfterMs = RETRY_AFTER_MS;
    throw error;
  }
  streams.open++;
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    // A regular end would mean that nothing is missing.
    reply.raw.destroy();
  };
  closing.addEventListener('abort', end, { once: true });
  reply.raw.once('close', () => {
    closing.removeEventListener('abort', end);
    streams.open--;
    ended.abort();
  });
  reply.hijack();
  const headers = { ...reply.getHeaders(), 'content-type': `${type}; charset=utf-8`, 'x-accel-buffering': 'no' };
  reply.raw.writeHead(200, headers as Record<string, string>);
  reply.raw.flushHeaders();
  if (closing.aborted) end();
  return ended.signal;
}
