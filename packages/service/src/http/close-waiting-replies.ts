import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Emits `close` on every reply of a connection that ends, also on those which wait for an earlier request of the same
 * connection: Node leaves these without a word, and what they hold would be held for ever. To be called before other
 * listeners are added.
 */
export function closeWaitingReplies(server: Server): void {
  const open = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('request', ({ socket }: IncomingMessage, reply: ServerResponse) => {
    let replies = open.get(socket);
    if (replies === undefined) {
      const all = new Set<ServerResponse>();
      open.set(socket, all);
      replies = all;
      // Node itself tells the reply whose turn it is, which is the one that has the socket.
      socket.once('close', () => {
        for (const waiting of all) if (waiting.socket === null) waiting.emit('close');
      });
    }
    const own = replies;
    own.add(reply);
    reply.once('close', () => own.delete(reply));
  });
}
