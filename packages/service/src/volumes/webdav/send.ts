import type { ServerResponse } from 'node:http';
import { DavRefusal } from './dav-refusal.ts';

/** Writes a block and waits while the client is slower than we are. Throws when the client has gone. */
export async function send(reply: ServerResponse, block: string | Uint8Array): Promise<void> {
  if (!reply.destroyed && !reply.write(block)) {
    await new Promise<void>((resolve) => {
      const go = () => {
        reply.off('drain', go);
        reply.off('close', go);
        resolve();
      };
      reply.on('drain', go);
      reply.on('close', go);
    });
  }
  if (reply.destroyed) throw new DavRefusal(400, 'the client has gone');
}
