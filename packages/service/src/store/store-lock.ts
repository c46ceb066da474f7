import { statSync } from 'node:fs';
import { createServer } from 'node:net';

/** Thrown where another living process serves the same root; match on `code`. */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError';
  readonly code = 'STORE_IN_USE';
}

/**
 * Claims `directory` for this process until the returned function is called or the process ends, however it ends.
 * An abstract unix socket is the lock: the kernel frees it with its holder, so that no stale lock can be left behind.
 * It reaches as far as the network namespace does.
 */
export async function lockStore(directory: string): Promise<() => Promise<void>> {
  const { dev, ino } = statSync(directory);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = error.code === 'EADDRINUSE';
      reject(inUse ? new StoreInUseError(`could not open ${directory} because another process serves it`) : error);
    });
    server.listen({ path: `\0sluice-service-${dev}-${ino}` }, resolve);
  });
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}
