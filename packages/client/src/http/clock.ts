import { setTimeout as delay } from 'node:timers/promises';

/** Time and chance, as far as the client needs them; tests give their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects at once when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to before 1; spreads the waits between tries. */
  random(): number;
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
  random: () => Math.random(),
};
