import type { ServerResponse } from 'node:http';

/** Thrown if the client disconnects before the reply is complete. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/**
 * Writes a block and waits until it has been passed to the kernel, after which its memory may be reused. Throws
 * `ClientGone` if the client disconnects.
 */
export function sendBlock(reply: ServerResponse, block: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new ClientGone('the client has gone'));
    if (reply.destroyed) return gone();
    reply.once('close', gone);
    reply.write(block, (error) => {
      reply.off('close', gone);
      if (error) reject(new ClientGone('the client has gone', { cause: error }));
      else resolve();
    });
  });
}
