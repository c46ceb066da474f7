import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Upstream } from './route-table.ts';

const CONNECT_MS = 10_000;
/** An application that starts just now, or changes its workers. */
const TRIES = 3;

/** Its `code` says to `upstreamFault` what to answer. */
export const NOT_OWNED = 'ENOTOWNED';

/**
 * Connects to a container's port, and makes sure that no other program has the connection before a byte goes either way.
 * The same sockets must listen before and after it is made, all of them the container's: while one does, no other program
 * can, unless both wish to share the port. Throws an error with a `code` otherwise.
 */
export async function connectUpstream({ host, port, whoListens }: Upstream): Promise<Socket> {
  for (let tries = 1; ; tries++) {
    const before = await whoListens?.(port);
    if (before?.by === 'another') throw notOwned();
    const socket = await open({ host, port });
    if (before === undefined) return socket;
    const after = await whoListens?.(port).catch(() => undefined);
    if (socket.destroyed) throw withCode('the connection broke', 'ECONNRESET');
    if (before.by === 'container' && after?.by === 'container' && after.sockets === before.sockets) return socket;
    socket.destroy();
    if (after?.by !== 'container' || tries === TRIES) throw notOwned();
  }
}

async function open(at: { readonly host: string; readonly port: number }): Promise<Socket> {
  const socket = connect({ ...at, noDelay: true });
  const timer = setTimeout(() => socket.destroy(withCode('no answer', 'ETIMEDOUT')), CONNECT_MS);
  try {
    await once(socket, 'connect');
    // It may break before its user has taken it.
    return readToTheEnd(socket).on('error', () => {});
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A write that fails says only that the other side reads no more: what it has sent before is still there, and an error of
 * the stream would throw it away. The next read tells that the connection has ended.
 */
function readToTheEnd(socket: Socket): Socket {
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
