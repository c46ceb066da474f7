/** Time as the service sees it; tests hand in a virtual one and move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Runs `action` once after `ms`, unless the returned function is called before. Never keeps the process alive. A
   * virtual clock waits for the promise that `action` may return, which must not reject.
   */
  after(ms: number, action: () => void | Promise<void>): () => void;
}

/** Timers longer than this overflow Node's 32-bit counter and would fire at once; the service looks again instead. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, action) {
    const timer = setTimeout(() => void action(), Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
