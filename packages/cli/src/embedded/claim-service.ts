import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { directoryIdentity, lockFile } from '@sluice/host-system';

/** How long the owner may take to start listening before a process that connects tries again. */
const READY_MS = 30_000;

/** The right to run the service of one directory; only one living process has it. */
export interface ServiceClaim {
  release(): Promise<void>;
}

/** Where a service is claimed: its directory, and the path of a socket for processes in other network namespaces. */
export interface ClaimPlace {
  readonly directory: string;
  readonly fallbackPath: string;
}

/**
 * Claims a directory by a name in Linux's abstract socket name space, which ends at the network namespace, and by the lock
 * of a file, which goes as far as the file system. The kernel takes both back when the process ends, however it ends.
 * `onConnection` makes the service reachable for other processes; it is called when the first one comes. Undefined: another
 * process has the claim.
 */
export async function claimService(
  { directory, fallbackPath }: ClaimPlace,
  onConnection: () => Promise<void>,
): Promise<ServiceClaim | undefined> {
  const connections = new Set<Socket>();
  const receive = (socket: Socket) => {
    connections.add(socket);
    // A waiting connection must not keep the owner from ending.
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => connections.delete(socket));
    onConnection().then(
      () => socket.write('ready\n'),
      () => socket.destroy(),
    );
  };
  const servers = [createServer(receive)];
  if (!(await listens(servers[0]!, await claimName(directory)))) return undefined;
  servers[0]!.unref();
  const close = async () => {
    for (const socket of connections) socket.destroy();
    await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
  };
  const lock = await lockFile(join(directory, '.lock')).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (lock === undefined) {
    await close();
    return undefined;
  }
  const foreign = await listenOnPath(receive, fallbackPath);
  if (foreign) servers.push(foreign);
  return {
    release: async () => {
      lock.release();
      await close();
    },
  };
}

/** For processes in other network namespaces. Undefined where the file system has no sockets; those processes then get an error. */
async function listenOnPath(receive: (socket: Socket) => void, path: string): Promise<Server | undefined> {
  const server = createServer(receive);
  try {
    // Left by an owner that was killed; the lock says that it is nobody's now.
    await rm(path, { force: true });
    if (!(await listens(server, path))) return undefined;
  } catch {
    return undefined;
  }
  server.unref();
  return server;
}

/** A connection to the process that has the claim; it lasts until that process ends or gives the claim back. */
export interface OwnerConnection {
  /** Calls back once, when the owner has gone. */
  onOwnerGone(listener: () => void): void;
  close(): void;
}

/** Asks the owner to be reachable and waits until it is. Undefined: there is no owner, or it left meanwhile. */
export async function connectToOwner({ directory, fallbackPath }: ClaimPlace): Promise<OwnerConnection | undefined> {
  return (await connectTo(await claimName(directory))) ?? (await connectTo(fallbackPath));
}

async function connectTo(name: string): Promise<OwnerConnection | undefined> {
  const socket = connect(name);
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
    close: () => {
      socket.removeAllListeners('close');
      socket.destroy();
    },
  };
}

async function claimName(directory: string): Promise<string> {
  return `\0sluice-service-${await directoryIdentity(directory)}`;
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
