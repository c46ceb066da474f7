import { mkdir, stat } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { Claim, ControlListener } from './disk.ts';

/** Bytes that one control line may have; more ends the connection. */
const MAX_LINE = 4096;

/**
 * Claims a directory by listening on a socket in Linux's abstract name space, named from the directory's device and
 * inode: the kernel gives a name to one process only and takes it back when that process ends, however it ends, so a
 * stale lock cannot exist. It does not reach beyond the machine: the journal's epoch does.
 */
export async function claimDirectory(directory: string, listener?: ControlListener): Promise<Claim | undefined> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
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
  return {
    release: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Where the holder of a directory's claim listens. */
export async function claimSocketName(directory: string): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true });
  return `\0sluice-${dev.toString(36)}-${ino.toString(36)}`;
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
