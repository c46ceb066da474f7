import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** What the kernel takes for a socket's name, without the final NUL. */
const MAX_SOCKET_BYTES = 107;

/** A path of a socket, valid until it is closed. */
export interface SocketPath {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Names a socket in a directory. It is always located there, so that a process that takes a link to the directory finds
 * the same one; where its path is too long for a socket, the directory is held open and named by that.
 */
export async function openSocketPath(directory: string, name: string): Promise<SocketPath> {
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= MAX_SOCKET_BYTES) return { path, close: async () => {} };
  const opened: FileHandle = await open(directory, 'r');
  return { path: `/proc/self/fd/${opened.fd}/${name}`, close: () => opened.close() };
}
