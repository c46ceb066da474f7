import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A Unix socket in a directory, through which other processes reach the holder of a lock. */
export interface ControlSocket {
  /** Removes the socket immediately. Resolves when its connections are closed. */
  close(): Promise<void>;
}

type Outcome = 'listening' | 'in-use' | 'unsupported';

/**
 * Listens at `path` and replaces a socket that a killed process left there, so only the holder of the lock may call this.
 * Undefined if the file system does not support sockets; other processes then cannot reach the holder. Does not keep the
 * process alive.
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
 * Takes a name that no live process listens on, as a lock that starts no program. Replacing the socket of a killed process
 * is not atomic: two processes that do it concurrently may both succeed. Use it only for work that is correct without a
 * lock. Undefined if another process has the name.
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

/** Whether a process listens at `path`. Does not wait for a reply, so a stopped process counts as listening. */
export function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => {
      resolve(true);
      socket.destroy();
    });
    // EAGAIN: a process listens, but its queue of connections is full.
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
    // This listener also handles later errors, for example when the process has no free file descriptors.
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
