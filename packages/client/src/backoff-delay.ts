/** Delays between attempts that double, from `initialMs` up to `maxMs`. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/**
 * The delay after failure `n`, from 1. `random`, from 0 to 1, removes at most half of it, so that many that failed together
 * do not come back together; without it the delay is whole.
 */
export function backoffDelay({ initialMs, maxMs }: Backoff, n: number, random = 1): number {
  return Math.min(initialMs * 2 ** (n - 1), maxMs) * (0.5 + random / 2);
}
