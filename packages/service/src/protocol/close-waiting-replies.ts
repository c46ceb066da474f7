import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Emits `close` on every reply of a connection that ends, including replies that wait for an earlier request of the same
 * connection. Node emits nothing on those, so their resources would never be released. Call it before adding other
 * listeners.
 */
export function closeWaitingReplies(server: Server): void {
  const open = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('request', ({ socket }: IncomingMessage, reply: ServerResponse) => {
    let replies = open.get(socket);
    if (replies === undefined) {
      const all = new Set<ServerResponse>();
      open.set(socket, all);
      replies = all;
      // Node emits `close` itself on the current reply, which is the one with a socket.
      socket.once('close', () => {
        for (const waiting of all) if (waiting.socket === null) waiting.emit('close');
      });
    }
    const own = replies;
    own.add(reply);
    reply.once('close', () => own.delete(reply));
  });
}
