import { setTimeout as delay } from 'node:timers/promises';
import { type FileLock, lockFile } from './lock-file.ts';

/** How long another holder may take. */
const LONGEST_WAIT_MS = 10_000;
const PAUSE_MS = 50;

/** Takes the lock of a file once its holder releases it: for work that takes moments. Throws where that lasts, naming the `action`. */
export async function waitForLock(file: string, action: string): Promise<FileLock> {
  for (const since = performance.now(); ; ) {
    const lock = await lockFile(file);
    if (lock !== undefined) return lock;
    if (performance.now() - since >= LONGEST_WAIT_MS) {
      throw new Error(
        `could not ${action} because another process has been doing so for ${LONGEST_WAIT_MS / 1000} s; try again`,
      );
    }
    await delay(PAUSE_MS);
  }
}
