import type { ServerResponse } from 'node:http';

/** Thrown where the client has gone before the reply. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/**
 * Writes a block and waits until it has gone to the kernel, so that its memory may be used again. Throws `ClientGone`
 * when the client has gone.
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
