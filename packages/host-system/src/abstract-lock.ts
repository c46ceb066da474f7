import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname } from 'node:path';

/**
 * The lock of a file for systems without `flock`: a name among Linux's abstract sockets. The kernel frees it with its
 * holder, but the name ends at the network namespace, and each process of that namespace can see and take it. Returns the
 * function that releases it; undefined: another process has the name.
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
 * Device, inode and, where the file system keeps it, the birth of the directory: the inode of a removed directory is
 * given to the next one, while a process that held the first may live.
 */
async function nameOf(file: string): Promise<string> {
  const { dev, ino, birthtimeNs } = await stat(dirname(file), { bigint: true });
  const directory = [dev, ino, birthtimeNs].map((part) => part.toString(36)).join('-');
  // An abstract name may have 107 bytes, and a file's name has up to 255.
  const name = createHash('sha256').update(basename(file)).digest('hex').slice(0, 16);
  return `\0sluice-lock-${directory}-${name}`;
}
