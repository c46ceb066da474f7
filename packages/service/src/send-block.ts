import type { ServerResponse } from 'node:http';

/**
 * Writes a block and waits until it has gone to the kernel, so that its memory may be used again. Throws when the client
 * has gone.
 */
export function sendBlock(reply: ServerResponse, block: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the client has gone'));
    if (reply.destroyed) return gone();
    reply.once('close', gone);
    reply.write(block, (error) => {
      reply.off('close', gone);
      if (error) reject(error);
      else resolve();
    });
  });
}
