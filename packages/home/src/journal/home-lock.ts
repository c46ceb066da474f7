import path from 'node:path';
import { type Clock, sleep } from '../clock.ts';
import type { ClaimOptions, Disk } from './disk.ts';

const PAUSE_MS = 20;

interface HomeLock extends ClaimOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
  readonly name: string;
}

/** Runs `action` while holding the home's lock of this name. Waits for the lock without a limit. */
export async function withHomeLock<T>(place: HomeLock, action: () => Promise<T>): Promise<T> {
  const { disk, clock, home, name, isLocal = false } = place;
  for (;;) {
    const claim = await disk.claim(path.join(home, 'locks', name), undefined, { isLocal });
    if (claim) {
      try {
        return await action();
      } finally {
        await claim.release();
      }
    }
    await sleep(clock, PAUSE_MS);
  }
}
