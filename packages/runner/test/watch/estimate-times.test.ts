import type { Container } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { estimateTimes, type ObservedTimes } from '../../src/watch/estimate-times.ts';

const T0 = Date.parse('2026-11-22T10:00:00Z');
const SEEN: ObservedTimes = { askedAt: T0, submittedAt: T0 + 200, seenAt: T0 + 30_000 };

/** A container with these times in seconds after T0 on a clock that is ahead by `offsetMs`. */
function container(times: { create?: number; start?: number; end?: number; run?: number }, offsetMs = 0): Container {
  const at = (seconds: number) => new Date(T0 + offsetMs + seconds * 1000).toISOString();
  return {
    id: 'a',
    clusterID: 'c',
    accountID: 'a',
    ...(times.create !== undefined && { createTime: at(times.create) }),
    ...(times.start !== undefined && { startTime: at(times.start) }),
    ...(times.end !== undefined && { endTime: at(times.end) }),
    ...(times.run !== undefined && { runTime: times.run }),
  };
}

describe('estimateTimes', () => {
  test.each([0, 3_600_000, -7_200_000])('takes the times of a service whose clock is ahead by %i ms', (offset) => {
    const { runningAt = 0, endedAt = 0 } =
      estimateTimes(SEEN, container({ create: 0.1, start: 5, end: 12 }, offset)) ?? {};
    expect(endedAt - runningAt).toBe(7000);
    expect(Math.abs(runningAt - (T0 + 5000))).toBeLessThanOrEqual(200);
  });

  test('needs not all of them, and takes a duration without any clock', () => {
    expect(estimateTimes(SEEN, container({ run: 4 }))).toEqual({ runningAt: T0 + 26_000 });
    expect(estimateTimes(SEEN, container({ create: 0, start: 5 }))).toEqual({ runningAt: T0 + 5000 });
    expect(estimateTimes(SEEN, container({ create: 0, end: 12 }))).toEqual({ endedAt: T0 + 12_000 });
    expect(estimateTimes(SEEN, container({}))).toBeUndefined();
    expect(estimateTimes(SEEN, container({ start: 5 }))).toBeUndefined();
  });

  test('never leaves what the runner has seen, whatever the service says', () => {
    const odd: Container[] = [
      container({ create: 0, start: 5, end: 1000 }),
      container({ create: 0, start: -1000, end: 12 }),
      container({ create: 0, start: 12, end: 5 }),
      container({ create: 0, run: 1e9 }),
      { ...container({ create: 0 }), startTime: '0001-01-01T00:00:00Z', endTime: 'soon', runTime: Number.NaN },
    ];
    for (const seen of odd) {
      const { runningAt = SEEN.submittedAt!, endedAt = SEEN.seenAt } = estimateTimes(SEEN, seen) ?? {};
      expect(runningAt).toBeGreaterThanOrEqual(T0);
      expect(endedAt).toBeGreaterThanOrEqual(runningAt);
      expect(endedAt).toBeLessThanOrEqual(SEEN.seenAt);
    }
  });

  test('says nothing where polling has seen the same', () => {
    const observed = { ...SEEN, runningAt: T0 + 5010 };
    expect(estimateTimes(observed, container({ create: 0, start: 5, end: 29.95 }))).toBeUndefined();
  });
});
