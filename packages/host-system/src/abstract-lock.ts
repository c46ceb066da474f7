import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname } from 'node:path';

/**
 * Locks a file on systems without `flock`, by a name of an abstract Unix socket. The kernel frees the name when the holder
 * ends. The name is valid only within one network namespace, and every process of that namespace can see and take it.
 * Returns the function that releases the lock, or undefined if another process holds it.
 */
export async function takeAbstractLock(file: string): Promise<(() => void) | undefined> {
  const name = await nameOf(file);
  const server = createServer((socket) => socket.destroy());
  const isTaken = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(name, () => resolve(true));
  });
  if (!isTaken) return undefined;
  server.unref();
  return () => void server.close();
}

/**
 * The name contains the directory's device, inode and, where the file system records it, birth time: the inode of a removed
 * directory may be reused while a process still holds a lock in the old one.
 */
async function nameOf(file: string): Promise<string> {
  const { dev, ino, birthtimeNs } = await stat(dirname(file), { bigint: true });
  const directory = [dev, ino, birthtimeNs].map((part) => part.toString(36)).join('-');
  // An abstract name has at most 107 bytes, a file name up to 255.
  const name = createHash('sha256').update(basename(file)).digest('hex').slice(0, 16);
  return `\0sluice-lock-${directory}-${name}`;
}
