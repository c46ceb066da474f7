import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** What the kernel takes for a socket's name, without the final NUL. */
const MAX_SOCKET_BYTES = 107;

/** A name of the socket of a home, good until it is closed. */
export interface SocketPath {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Names a socket on which the embedded service of a home listens. It always lies in the home, so that whoever comes to
 * it through a link finds the same one; where its path is too long for a socket, the home is held open and named by that.
 */
export async function openSocketPath(home: string, name: string): Promise<SocketPath> {
  const path = join(home, name);
  if (Buffer.byteLength(path) <= MAX_SOCKET_BYTES) return { path, close: async () => {} };
  const directory: FileHandle = await open(home, 'r');
  return { path: `/proc/self/fd/${directory.fd}/${name}`, close: () => directory.close() };
}
