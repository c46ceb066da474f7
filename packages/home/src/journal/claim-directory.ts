import type { Socket } from 'node:net';
import path from 'node:path';
import {
  isListening,
  isSystemError,
  lockFile,
  makeDirectories,
  openControlSocket,
  openSocketPath,
  type SocketPath,
  takeSocketName,
} from '@sluice/host-system';
import type { Claim, ClaimOptions, ControlListener } from './disk.ts';
import { isSharedDirectory } from './is-shared-directory.ts';
import { MAX_REQUEST, removeRequestDirectories } from './request-directory.ts';
import { serveRequests } from './serve-requests.ts';

/** Another process may remove the directory before it is claimed. It is created at most this many times. */
const TRIES = 10;

/**
 * Claims a directory by locking a file in it, and listens for requests on a socket beside the file. On a file system
 * without sockets, the lock alone is the claim. Where other machines may see the directory, requests also arrive as files.
 * With `isLocal`, the socket alone is the claim: this starts no program, but processes of different network namespaces can
 * hold it at the same time.
 */
export async function claimDirectory(
  directory: string,
  listener?: ControlListener,
  { isLocal = false }: ClaimOptions = {},
): Promise<Claim | undefined> {
  for (let tries = 1; ; tries++) {
    await makeDirectories(directory, 0o700);
    try {
      return await (isLocal ? claimLocally(directory) : claim(directory, listener));
    } catch (error) {
      if (!isSystemError(error, 'ENOENT') || tries >= TRIES) throw error;
    }
  }
}

/** The file whose lock is the claim of a directory. */
export function lockPath(directory: string): string {
  return path.join(directory, '.lock');
}

/** Where the holder of a directory's claim listens. */
export function openControlPath(directory: string): Promise<SocketPath> {
  return openSocketPath(directory, '.control.sock');
}

async function claim(directory: string, listener: ControlListener | undefined): Promise<Claim | undefined> {
  return withControlPath(directory, async (socketPath) => {
    // A process that waits for a claim tries repeatedly; this check starts no program.
    if (await isListening(socketPath.path)) return undefined;
    const lock = await lockFile(lockPath(directory));
    if (lock === undefined) return undefined;
    const socket = await openControlSocket(socketPath.path, (connection) => answer(connection, listener));
    await removeRequestDirectories(directory);
    const files = listener && isSharedDirectory(directory) ? await serveRequests(directory, listener) : undefined;
    return {
      async release() {
        // These are closed first: after the lock is released, the next holder opens its own.
        const closed = socket?.close();
        await files?.close();
        lock.release();
        await closed;
        await socketPath.close();
      },
    };
  });
}

async function claimLocally(directory: string): Promise<Claim | undefined> {
  return withControlPath(directory, async (socketPath) => {
    const taken = await takeSocketName(socketPath.path);
    return (
      taken && {
        async release() {
          await taken.close();
          await socketPath.close();
        },
      }
    );
  });
}

/** The path stays open while the claim is held, since removing the socket needs it. */
async function withControlPath(
  directory: string,
  take: (socketPath: SocketPath) => Promise<Claim | undefined>,
): Promise<Claim | undefined> {
  const socketPath = await openControlPath(directory);
  let taken: Claim | undefined;
  try {
    taken = await take(socketPath);
  } finally {
    if (taken === undefined) await socketPath.close();
  }
  return taken;
}

function answer(socket: Socket, listener: ControlListener | undefined): void {
  let received = '';
  const reply = async (line: string) => {
    socket.removeAllListeners('data');
    socket.end(`${(await listener?.(line)) ?? ''}\n`);
  };
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    received += chunk;
    const end = received.indexOf('\n');
    if (end >= 0) void reply(received.slice(0, end));
    else if (received.length > MAX_REQUEST) socket.destroy();
  });
}
