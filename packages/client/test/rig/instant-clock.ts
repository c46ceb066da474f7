import type { Clock } from '@sluice/client';

/** Time that passes only by sleeping, and then at once; `waits` are the sleeps that were asked for. */
export interface InstantClock extends Clock {
  readonly waits: number[];
}

export function instantClock(start = Date.parse('2026-11-21T12:00:00Z')): InstantClock {
  let now = start;
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    random: () => 0.5,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      waits.push(ms);
      now += ms;
      await Promise.resolve();
    },
  };
}
