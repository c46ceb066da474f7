import { createServer } from 'node:net';

/**
 * Takes the lock `name` for this process until the returned function is called or the process ends, however it ends;
 * undefined where another has it. An abstract unix socket is the lock: the kernel frees it with its holder, so that no
 * stale one can be left behind. It reaches as far as the network namespace does.
 */
export async function takeKernelLock(name: string): Promise<(() => Promise<void>) | undefined> {
  const server = createServer((socket) => socket.destroy());
  const taken = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen({ path: `\0${name}` }, () => resolve(true));
  });
  if (!taken) return undefined;
  server.unref();
  return () => new Promise((resolve) => server.close(() => resolve()));
}
