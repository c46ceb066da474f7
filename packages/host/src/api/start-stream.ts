import type { FastifyReply } from 'fastify';

/** Sends the headers of a reply without a known end. The signal is aborted when the client disconnects or the server closes. */
export function startStream(
  reply: FastifyReply,
  { type, closing }: { readonly type: string; readonly closing: AbortSignal },
): AbortSignal {
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    // A regular end would mean that nothing is missing.
    reply.raw.destroy();
  };
  closing.addEventListener('abort', end, { once: true });
  reply.raw.once('close', () => {
    closing.removeEventListener('abort', end);
    ended.abort();
  });
  reply.hijack();
  const headers = { ...reply.getHeaders(), 'content-type': `${type}; charset=utf-8`, 'x-accel-buffering': 'no' };
  reply.raw.writeHead(200, headers as Record<string, string>);
  reply.raw.flushHeaders();
  if (closing.aborted) end();
  return ended.signal;
}
