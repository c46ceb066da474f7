import { connect } from 'node:net';
import { join } from 'node:path';
import { lockFile, openControlSocket } from '@sluice/host-system';

/** How long the owner may take to start listening before a process that connects tries again. */
const READY_MS = 30_000;

/** The right to run the service of one directory; only one living process has it. */
export interface ServiceClaim {
  release(): Promise<void>;
}

/** Where a service is claimed: its directory, and the path of the socket on which its owner can be reached. */
export interface ClaimPlace {
  readonly directory: string;
  readonly ownerPath: string;
}

/**
 * Claims a directory by the lock of a file, which the kernel takes back when the process ends, however it ends.
 * `onConnection` makes the service reachable for other processes; it is called when the first one connects to the owner's
 * socket. Where the file system has no sockets, none can. Undefined: another process has the claim.
 */
export async function claimService(
  { directory, ownerPath }: ClaimPlace,
  onConnection: () => Promise<void>,
): Promise<ServiceClaim | undefined> {
  const lock = await lockFile(join(directory, '.lock'));
  if (lock === undefined) return undefined;
  const socket = await openControlSocket(ownerPath, (connection) => {
    onConnection().then(
      () => connection.write('ready\n'),
      () => connection.destroy(),
    );
  });
  return {
    release: async () => {
      // The socket goes first: after the lock is released, the next owner's is there.
      const closed = socket?.close();
      lock.release();
      await closed;
    },
  };
}

/** A connection to the process that has the claim; it lasts until that process ends or gives the claim back. */
export interface OwnerConnection {
  /** Calls back once, when the owner has gone. */
  onOwnerGone(listener: () => void): void;
  close(): void;
}

/** Asks the owner to be reachable and waits until it is. Undefined: there is no owner, or it left meanwhile. */
export async function connectToOwner(ownerPath: string): Promise<OwnerConnection | undefined> {
  const socket = connect(ownerPath);
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
