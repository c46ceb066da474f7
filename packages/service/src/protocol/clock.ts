/** The service's source of time. Tests pass a virtual clock and advance it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `action` once after `ms`, unless the returned function is called first. Does not keep the process alive. A virtual
   * clock awaits the promise that `action` may return; it must not reject.
   */
  after(ms: number, action: () => void | Promise<void>): () => void;
}

/** A longer timer overflows Node's 32-bit counter and fires immediately. Callers check the time again when it fires. */
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
