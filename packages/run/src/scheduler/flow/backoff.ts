import type { Retry } from '@sluice/core';

/**
 * Milliseconds before the next attempt, after this many failures: grows by `factor` up to `maxMs`. Half of it is
 * jitter, so that cells which failed together do not retry together. The jitter is a hash of `key` and the number of
 * failures, so a replay computes the same delay.
 */
export function backoffDelay(backoff: Retry['backoff'], failures: number, key: string): number {
  const full = Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** (failures - 1));
  return Math.round(full * (0.5 + hashFraction(`${key}#${failures}`) / 2));
}

/** FNV-1a with a final mix, as a number in [0, 1). */
function hashFraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
