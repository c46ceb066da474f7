import type { FastifyReply } from 'fastify';
import { sendBlock } from '../http/send-block.ts';

/**
 * Signals that are aborted once a reply is done, its reader has gone, or `closing` is. `AbortSignal.any` would do, but
 * keeps some kilobytes for each request for as long as the listener lives.
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
 * Sends blocks that may all be given in the same memory: the next is asked for when the last has gone to the kernel. Headers
 * go out at once, since a followed log may stay silent for long. Where `closing` has made the bytes end, the
 * connection is cut: a proper end would tell the client that this was all.
 */
export async function sendStream(
  reply: FastifyReply,
  bytes: AsyncIterable<Uint8Array>,
  closing: AbortSignal,
): Promise<void> {
  reply.hijack();
  reply.raw.writeHead(200, { ...reply.getHeaders(), 'content-type': 'text/plain; charset=utf-8' } as Record<
    string,
    string
  >);
  reply.raw.flushHeaders();
  // Nothing of the bytes would be sent, and of a followed log nothing would come to an end.
  if (reply.raw.req.method === 'HEAD') return void reply.raw.end();
  try {
    for await (const block of bytes) await sendBlock(reply.raw, block);
    if (closing.aborted) throw new Error('the service is closing');
    reply.raw.end();
  } catch (error) {
    // The status is out; a cut connection tells the client that this is not the end of the log.
    reply.log.debug({ err: error }, 'a log was not sent to its end');
    reply.raw.destroy();
  }
}
