import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How long another holder may take. */
const LOCK_MS = 10_000;
const LOOK_MS = 20;

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

/** The same, once whoever has it lets it go: for what takes moments. Throws where that lasts, naming the `action`. */
export async function waitForKernelLock(name: string, action: string): Promise<() => Promise<void>> {
  for (let waited = 0; waited < LOCK_MS; waited += LOOK_MS) {
    const unlock = await takeKernelLock(name);
    if (unlock !== undefined) return unlock;
    await delay(LOOK_MS);
  }
  throw new Error(`could not ${action} because another process has been doing so for ${LOCK_MS / 1000} s`);
}
