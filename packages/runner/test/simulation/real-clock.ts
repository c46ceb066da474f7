import { createSystemClock } from '@sluice/home';
import type { VirtualClock } from './virtual-clock.ts';

const LONGEST_MS = 10_000;

/** The machine's time behind the interface of the virtual one: for tests with real files, whose time nobody can move. */
export function createRealClock(): VirtualClock {
  const clock = createSystemClock();
  return {
    ...clock,
    ahead: 0,
    jump: reject,
    reboot: reject,
    delay: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    async runUntil(done) {
      const deadline = clock.now() + LONGEST_MS;
      while (!done()) {
        if (clock.now() > deadline) throw new Error(`nothing came of it within ${LONGEST_MS} ms`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

function reject(): never {
  throw new Error('the time of the machine cannot be moved');
}
