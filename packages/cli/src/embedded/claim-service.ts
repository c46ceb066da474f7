import { stat } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** How long the owner may take to start listening before a visitor looks again. */
const READY_MS = 30_000;

/** The right to run the service of one directory; only one living process on the machine has it. */
export interface ServiceClaim {
  release(): Promise<void>;
}

/**
 * Claims a directory by a name in Linux's abstract socket name space: the kernel takes it back when the process ends,
 * however it ends. `onVisit` makes the service reachable for other processes; it is called when the first one comes.
 * Undefined: another process has the claim.
 */
export async function claimService(directory: string, onVisit: () => Promise<void>): Promise<ServiceClaim | undefined> {
  const visitors = new Set<Socket>();
  const server = createServer((socket) => {
    visitors.add(socket);
    // A visitor that waits must not keep the owner from ending.
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => visitors.delete(socket));
    onVisit().then(
      () => socket.write('ready\n'),
      () => socket.destroy(),
    );
  });
  if (!(await listens(server, await claimName(directory)))) return undefined;
  server.unref();
  return {
    release: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of visitors) socket.destroy();
      }),
  };
}

/** A visit to the process that has the claim; it lasts until that process ends or gives the claim back. */
export interface ServiceVisit {
  /** Calls back once, when the owner has gone. */
  onOwnerGone(listener: () => void): void;
  leave(): void;
}

/** Asks the owner to be reachable and waits until it is. Undefined: there is no owner, or it left meanwhile. */
export async function visitOwner(directory: string): Promise<ServiceVisit | undefined> {
  const socket = connect(await claimName(directory));
  const ready = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => socket.destroy(), READY_MS);
    const settle = (value: boolean) => {
      clearTimeout(timer);
      resolve(value);
    };
    socket.on('error', () => settle(false));
    socket.on('close', () => settle(false));
    socket.once('data', () => settle(true));
  });
  if (!ready) return undefined;
  socket.unref();
  return {
    onOwnerGone: (listener) => {
      if (socket.destroyed) listener();
      else socket.once('close', listener);
    },
    leave: () => {
      socket.removeAllListeners('close');
      socket.destroy();
    },
  };
}

async function claimName(directory: string): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true });
  return `\0sluice-service-${dev.toString(36)}-${ino.toString(36)}`;
}

function listens(server: Server, name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(name, () => resolve(true));
  });
}
