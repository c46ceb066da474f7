/** Delays between attempts, in milliseconds: they double from `initialMs` up to `maxMs`. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/**
 * The delay in milliseconds after the `n`th failure, counted from 1. `random` is jitter between 0 and 1: it removes up to
 * half of the delay, so that clients that failed together do not retry together. Without it, nothing is removed.
 */
export function backoffDelay({ initialMs, maxMs }: Backoff, n: number, random = 1): number {
  return Math.min(initialMs * 2 ** (n - 1), maxMs) * (0.5 + random / 2);
}
