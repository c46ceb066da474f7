import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** The kernel's limit for the path of a socket, without the final NUL. */
const MAX_SOCKET_BYTES = 107;

/** A path of a socket, valid until `close`. */
export interface SocketPath {
  /** May refer to an open descriptor of this process. */
  readonly path: string;
  /** Closes that descriptor; leaves the socket. */
  close(): Promise<void>;
}

/**
 * Returns a path for a socket in `directory`. If the path is too long for a socket, it goes through an open descriptor of
 * the directory, so that processes that reach the directory by a link find the same socket.
 */
export async function openSocketPath(directory: string, name: string): Promise<SocketPath> {
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= MAX_SOCKET_BYTES) return { path, close: async () => {} };
  const opened: FileHandle = await open(directory, 'r');
  return { path: `/proc/self/fd/${opened.fd}/${name}`, close: () => opened.close() };
}
