import { connect } from 'node:net';
import { join } from 'node:path';
import { lockFile, nameLockHolder, openControlSocket } from '@sluice/host-system';

const LOCK_NAME = '.lock';

/** The right to run the service of one directory; at most one process has it. */
export interface ServiceClaim {
  release(): Promise<void>;
}

/** The directory of a service, and the path of the socket on which its owner accepts connections. */
export interface ClaimPlace {
  readonly directory: string;
  readonly ownerPath: string;
}

/**
 * Claims a directory with a file lock, which the kernel releases when the process ends. `onConnection` makes the
 * service reachable for other processes; it is called for each connection to the owner's socket. On file systems
 * without sockets, no process can connect. Undefined if another process has the claim.
 */
export async function claimService(
  { directory, ownerPath }: ClaimPlace,
  onConnection: () => Promise<void>,
): Promise<ServiceClaim | undefined> {
  const lock = await lockFile(join(directory, LOCK_NAME));
  if (lock === undefined) return undefined;
  const socket = await openControlSocket(ownerPath, (connection) => {
    onConnection().then(
      () => connection.write('ready\n'),
      () => connection.destroy(),
    );
  });
  return {
    release: async () => {
      // The socket is closed before the lock is released: afterwards, the path belongs to the next owner.
      const closed = socket?.close();
      lock.release();
      await closed;
    },
  };
}

/** The process that has the claim of a directory, for messages. */
export function nameOwner(directory: string): string {
  return nameLockHolder(join(directory, LOCK_NAME));
}

/** A connection to the process that has the claim; it ends when that process exits or releases the claim. */
export interface OwnerConnection {
  /** Calls the listener once; immediately if the owner is already gone. */
  onOwnerGone(listener: () => void): void;
  close(): void;
}

/**
 * Requests the owner to be reachable and waits until it is, at most `withinMs`. Undefined if there is no owner, it exited
 * meanwhile, or it has not replied by then.
 */
export async function connectToOwner(ownerPath: string, withinMs: number): Promise<OwnerConnection | undefined> {
  const socket = connect(ownerPath);
  const ready = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => socket.destroy(), withinMs);
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
