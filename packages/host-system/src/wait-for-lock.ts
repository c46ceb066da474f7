import { setTimeout as delay } from 'node:timers/promises';
import { type FileLock, tryLockFile } from './lock-file.ts';
import { readLockHolder, seemsAlive } from './lock-holder.ts';

const LONGEST_WAIT_MS = 30_000;
const PAUSE_MS = 20;
/** Interval between attempts while the file names a live process: each attempt starts a program. */
const ATTEMPT_MS = 1_000;

/** Waits for the lock of a file, for short operations. Throws after 30 s, with `action` in the message. */
export async function waitForLock(file: string, action: string): Promise<FileLock> {
  const since = performance.now();
  let attempted = Number.NEGATIVE_INFINITY;
  for (;;) {
    const holder = readLockHolder(file);
    if (!(holder && seemsAlive(holder)) || performance.now() - attempted >= ATTEMPT_MS) {
      attempted = performance.now();
      const outcome = await tryLockFile(file);
      if (typeof outcome === 'object') return outcome;
    }
    if (performance.now() - since >= LONGEST_WAIT_MS) {
      const wait = `${LONGEST_WAIT_MS / 1000} s`;
      throw new Error(`could not ${action} because another process has been doing so for ${wait}; try again`);
    }
    await delay(PAUSE_MS);
  }
}
