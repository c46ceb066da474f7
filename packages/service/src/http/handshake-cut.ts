import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Gives what ends the connections that have not made themselves known by a TLS handshake. `closeAllConnections` does not
 * know them, and a server whose closing waits for them can be held open by anyone who connects and says nothing.
 */
export function createHandshakeCut(server: Server): () => void {
  const open = new Map<string, Socket>();
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    open.set(name, socket);
    socket.once('close', () => {
      if (open.get(name) === socket) open.delete(name);
    });
  });
  server.on('secureConnection', (secured: Socket) => open.delete(nameOf(secured)));
  return () => {
    for (const socket of open.values()) socket.destroy();
  };
}
