import type { FastifyReply } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

/** The most streams that the clients of a home may follow at once: each keeps data in memory. */
const MAX_STREAMS = 64;
/** The most files and logs that the clients of a home may read at once: each keeps one open. */
const MAX_DOWNLOADS = 128;
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
    throw describeTooMany(`could not follow anything more: ${MAX_STREAMS} streams of this home are open; close some`);
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

/** Counts a reply of bytes until the returned function is called. Throws `ApiError` if there are too many. */
export function countDownload(downloads: Streams): () => void {
  if (downloads.open >= MAX_DOWNLOADS) {
    throw describeTooMany(
      `could not send anything more: ${MAX_DOWNLOADS} files of this home are being read; close some`,
    );
  }
  downloads.open++;
  return () => {
    downloads.open--;
  };
}

function describeTooMany(message: string): ApiError {
  return new ApiError(429, 'TOO_MANY_STREAMS', message).retryAfter(RETRY_AFTER_MS);
}
