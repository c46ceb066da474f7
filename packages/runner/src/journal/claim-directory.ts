import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { directoryIdentity, lockFile, makeDirectories } from '@sluice/host-system';
import type { Claim, ClaimOptions, ControlListener } from './disk.ts';

/** Bytes that one control line may have; more ends the connection. */
const MAX_LINE = 4096;

/**
 * Claims a directory by listening on a socket in Linux's abstract name space, named from the directory's identity: the
 * kernel gives a name to one process only and takes it back when that process ends, however it ends, so a stale lock
 * cannot exist. The socket ends at the network namespace, and answers within it. The lock of a file in the
 * directory goes as far as the file system does; `isLocal` leaves it out, where being in each other's way harms nothing.
 */
export async function claimDirectory(
  directory: string,
  listener?: ControlListener,
  { isLocal = false }: ClaimOptions = {},
): Promise<Claim | undefined> {
  await makeDirectories(directory, 0o700);
  const name = await claimSocketName(directory);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    answer(socket, listener);
  });
  if (!(await listen(server, name))) return undefined;
  // The claim must not keep a process alive that has nothing else to do.
  server.unref();
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of open) socket.destroy();
      server.close(() => resolve());
    });
  if (isLocal) return { release: close };
  const lock = await lockFile(lockPath(directory)).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (lock === undefined) {
    await close();
    return undefined;
  }
  return {
    async release() {
      lock.release();
      await close();
    },
  };
}

/** The file whose lock goes with the claim of a directory. */
export function lockPath(directory: string): string {
  return path.join(directory, '.lock');
}

/** Where the holder of a directory's claim listens. */
export async function claimSocketName(directory: string): Promise<string> {
  return `\0sluice-${await directoryIdentity(directory)}`;
}

function listen(server: Server, name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(name, () => resolve(true));
  });
}

function answer(socket: Socket, listener: ControlListener | undefined): void {
  let received = '';
  socket.setEncoding('utf8');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    received += chunk;
    const end = received.indexOf('\n');
    if (end >= 0) socket.end(`${listener?.(received.slice(0, end)) ?? ''}\n`);
    else if (received.length > MAX_LINE) socket.destroy();
  });
}
