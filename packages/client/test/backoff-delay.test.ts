import { expect, test } from 'vitest';
import { backoffDelay } from '../src/backoff-delay.ts';

const BACKOFF = { initialMs: 100, maxMs: 1_000 };

test('backoffDelay doubles up to its maximum', () => {
  expect([1, 2, 3, 4, 5, 2_000].map((n) => backoffDelay(BACKOFF, n))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test('backoffDelay removes at most half by chance', () => {
  expect([0, 0.5, 1].map((random) => backoffDelay({ ...BACKOFF, random }, 3))).toEqual([200, 300, 400]);
});
