/** Delays between attempts, in milliseconds: they double from `initialMs` up to `maxMs`. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
  /**
   * Jitter from 0 to 1: it keeps this part of the delay's second half, so that clients that failed together do not retry
   * together. Default 1: the whole delay.
   */
  readonly random?: number;
}

/** The delay in milliseconds after the `n`th failure, counted from 1. */
export function backoffDelay({ initialMs, maxMs, random = 1 }: Backoff, n: number): number {
  return Math.min(initialMs * 2 ** (n - 1), maxMs) * (0.5 + random / 2);
}
