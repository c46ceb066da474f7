import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A unix socket in a directory, on which the holder of a lock can be reached. */
export interface ControlSocket {
  /** Removes the socket at once. Resolves when its connections are closed. */
  close(): Promise<void>;
}

type Outcome = 'listening' | 'in-use' | 'unsupported';

/**
 * Listens at `path`, in place of what a killed process left there: only the holder of a lock may call this. Undefined where
 * the file system has no sockets: the holder cannot be reached then. Keeps no process alive.
 */
export async function openControlSocket(
  path: string,
  onConnection: (socket: Socket) => void,
): Promise<ControlSocket | undefined> {
  await rm(path, { force: true }).catch(() => {});
  const { server, outcome } = await listen(path, onConnection);
  return outcome === 'listening' ? server : undefined;
}

/**
 * Takes a name that no living process listens on, as a lock that costs no program. What a killed process left is replaced
 * without one: of two processes that do so at once both may get it. So it is only for work that stays correct without any
 * lock. Undefined: another process has it.
 */
export async function takeSocketName(path: string): Promise<ControlSocket | undefined> {
  for (const last of [false, true]) {
    const { server, outcome } = await listen(path, (socket) => socket.destroy());
    if (outcome === 'listening') return server;
    if (outcome === 'unsupported') return { close: async () => {} };
    if (last || (await isListening(path))) return undefined;
    await rm(path, { force: true });
  }
  return undefined;
}

/** Whether a process listens there. No answer is waited for, so that a stopped process counts, too. */
export function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => {
      resolve(true);
      socket.destroy();
    });
    // EAGAIN: too many are waiting to be accepted.
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EAGAIN'));
  });
}

async function listen(
  path: string,
  onConnection: (socket: Socket) => void,
): Promise<{ readonly server: ControlSocket; readonly outcome: Outcome }> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
    onConnection(socket);
  });
  const outcome = await new Promise<Outcome>((resolve) => {
    // Also what goes wrong later, where this process has no more descriptors for example: it cannot be reached then.
    server.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'EADDRINUSE' ? 'in-use' : 'unsupported');
    });
    server.listen(path, () => resolve('listening'));
  });
  server.unref();
  return { server: { close: () => closeServer(server, open) }, outcome };
}

function closeServer(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of open) socket.destroy();
  });
}
