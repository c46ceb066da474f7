import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Upstream } from './route-table.ts';

const CONNECT_MS = 10_000;
/** Attempts, for an application that is starting or replacing its workers. */
const TRIES = 3;

/** The error code if another program listens on the port; `upstreamFault` translates it. */
export const NOT_OWNED = 'ENOTOWNED';

/**
 * Connects to a container's port, and verifies before any byte is sent that no other program accepted the connection: before
 * and after connecting, the same sockets must listen, and all must belong to the container. While one of them listens, no
 * other program can, unless both request to share the port. Throws an error with a `code` otherwise.
 */
export async function connectUpstream({ host, port, findListener }: Upstream): Promise<Socket> {
  for (let tries = 1; ; tries++) {
    const before = await findListener?.(port);
    if (before?.by === 'another') throw notOwned();
    const socket = await open({ host, port });
    if (before === undefined) return socket;
    const after = await findListener?.(port).catch(() => undefined);
    if (socket.destroyed) throw withCode('the connection broke', 'ECONNRESET');
    if (before.by === 'container' && after?.by === 'container' && after.sockets === before.sockets) return socket;
    socket.destroy();
    if (after?.by !== 'container' || tries === TRIES) throw notOwned();
  }
}

async function open(at: { readonly host: string; readonly port: number }): Promise<Socket> {
  const socket = connect({ ...at, noDelay: true });
  const timer = setTimeout(() => socket.destroy(withCode('no response', 'ETIMEDOUT')), CONNECT_MS);
  try {
    await once(socket, 'connect');
    // It may fail before the caller adds its listeners.
    return ignoreWriteErrors(socket).on('error', () => {});
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Ignores write errors. A failed write only means that the other side stopped reading: data that it sent before can still be
 * read, but an error of the stream would discard it. The next read detects the end of the connection.
 */
function ignoreWriteErrors(socket: Socket): Socket {
  const write = socket._write.bind(socket);
  const writeAll = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, () => done());
  if (writeAll !== undefined) socket._writev = (chunks, done) => writeAll(chunks, () => done());
  return socket;
}

function notOwned(): Error {
  return withCode('another program listens on the port', NOT_OWNED);
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
