import { renderLogCut } from '@sluice/client';
import type { FastifyReply } from 'fastify';
import type { LogStream } from '../calls/container-calls.ts';
import { sendBlock } from '../protocol/send-block.ts';

/**
 * Creates signals that are aborted when the reply is complete, the client disconnects, or `closing` is aborted.
 * `AbortSignal.any` would keep a few kilobytes per request until the listener closes.
 */
export function createReplySignals(closing: AbortSignal): (reply: FastifyReply) => AbortSignal {
  const open = new Set<AbortController>();
  closing.addEventListener('abort', () => {
    for (const controller of open) controller.abort();
  });
  return (reply) => {
    const controller = new AbortController();
    open.add(controller);
    reply.raw.once('close', () => {
      open.delete(controller);
      controller.abort();
    });
    if (closing.aborted) controller.abort();
    return controller.signal;
  };
}

/**
 * Sends the blocks of a log, which may all use the same memory: each is passed to the kernel before the next is requested. Headers are
 * sent immediately, since a followed log may be silent for long. If the bytes ended because `closing` was aborted, the
 * connection is cut: a regular end would mean that the log is complete.
 */
export async function sendStream(reply: FastifyReply, bytes: LogStream, closing: AbortSignal): Promise<void> {
  if (bytes.cut !== undefined) void reply.headers(renderLogCut(bytes.cut));
  reply.hijack();
  reply.raw.writeHead(200, { ...reply.getHeaders(), 'content-type': 'text/plain; charset=utf-8' } as Record<
    string,
    string
  >);
  reply.raw.flushHeaders();
  // A HEAD reply has no body, and waiting for the end of a followed log would block it.
  if (reply.raw.req.method === 'HEAD') return void reply.raw.end();
  try {
    for await (const block of bytes) await sendBlock(reply.raw, block);
    if (closing.aborted) throw new Error('the service is closing');
    reply.raw.end();
  } catch (error) {
    // The status has been sent; only a cut connection shows the client that the log is incomplete.
    reply.log.debug({ err: error }, 'a log was not sent completely');
    reply.raw.destroy();
  }
}
