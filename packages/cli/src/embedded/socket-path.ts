import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the kernel takes for a socket's name, without the final NUL. */
const MAX_SOCKET_BYTES = 107;

/**
 * Where the embedded service of a home listens: in the home, or, where that path is too long for a socket, in a
 * directory of the user's own beneath the system's temporary one.
 */
export function socketPath(home: string): string {
  const near = join(home, 'service.sock');
  if (Buffer.byteLength(near) <= MAX_SOCKET_BYTES) return near;
  const user = process.getuid?.() ?? 0;
  const directory = join(tmpdir(), `sluice-${user}`);
  mkdirSync(directory, { mode: 0o700, recursive: true });
  const found = lstatSync(directory);
  // Someone else's directory of that name could hand us their service.
  if (!found.isDirectory() || found.uid !== user || (found.mode & 0o077) !== 0) {
    throw new Error(`Could not use ${directory} for sockets: it is not a directory of this user alone`);
  }
  return join(directory, `${createHash('sha256').update(home).digest('hex').slice(0, 16)}.sock`);
}
