import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Returns a function that closes all connections without a complete TLS handshake. `closeAllConnections` does not include
 * them, so any client that connects and sends nothing would keep the server from closing.
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
