/**
 * The only source of time in the shell, so that a simulation can run it in virtual time. Times are milliseconds since
 * the epoch; timers may fire late, never early.
 */
export interface Clock {
  now(): number;
  /** Calls `callback` once at `at` or later; the returned function forgets it. */
  setTimer(at: number, callback: () => void): () => void;
  /** Calls `callback` after everything of the present loop turn: what happens in one turn is handled as one batch. */
  defer(callback: () => void): void;
}

/** Longest delay that a Node timer takes; longer ones would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The machine's own clock. Its timers keep the process alive. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    setTimer(at, callback) {
      let timer: NodeJS.Timeout;
      const arm = () => {
        const left = at - Date.now();
        timer = left > MAX_DELAY_MS ? setTimeout(arm, MAX_DELAY_MS) : setTimeout(callback, Math.max(0, left));
      };
      arm();
      return () => clearTimeout(timer);
    },
    defer: (callback) => void setImmediate(callback),
  };
}
