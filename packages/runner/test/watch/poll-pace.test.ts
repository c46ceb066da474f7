import { expect, test } from 'vitest';
import type { Attempt } from '../../src/session/attempt.ts';
import { createPollPace } from '../../src/watch/poll-pace.ts';

const aged = (since: number): Attempt => ({
  at: { step: 0, cell: 0, attempt: 1 },
  name: { runId: 'r', step: 's', cell: '', attempt: 1 },
  ref: { clusterID: 'c', accountID: 'a', id: 'i' },
  confirmed: true,
  ran: true,
  closed: false,
  since,
});

/** `count` containers run `runMs` each, one after the other in their place, out of step: lists asked for each end. */
function listsForEachEnd(count: number, runMs: number): { lists: number; latest: number } {
  const pace = createPollPace();
  let live = Array.from({ length: count }, (_, i) => aged((-i * runMs) / count));
  let [lists, ends, latest] = [0, 0, 0];
  for (let now = 0; now < 5 * runMs; lists++) {
    now += pace.interval(now, live, false);
    live = live.map((attempt) => {
      const late = now - (attempt.since + runMs);
      if (late < 0) return attempt;
      latest = Math.max(latest, late);
      ends++;
      pace.ended(now);
      return aged(now);
    });
  }
  return { lists: lists / ends, latest };
}

test('createPollPace asks for a list no oftener than something ends, within a second', () => {
  const minutes = listsForEachEnd(64, 60_000);
  expect(minutes.lists).toBeLessThan(1.3);
  expect(minutes.latest).toBeLessThanOrEqual(1000);
  const hours = listsForEachEnd(64, 3_600_000);
  expect(hours.lists).toBeLessThan(30);
  expect(listsForEachEnd(8, 1000).latest).toBeLessThanOrEqual(250);
});

test('createPollPace looks rarely at what has run for long, and soon at what is young', () => {
  const pace = createPollPace();
  expect(pace.interval(0, [aged(0)], false)).toBe(250);
  expect(pace.interval(60_000, [aged(0)], false)).toBe(6_000);
  expect(pace.interval(3_600_000, [aged(0)], false)).toBe(10_000);
  expect(pace.interval(3_600_000, [aged(0), aged(3_600_000)], false)).toBe(250);
  expect(pace.interval(0, [aged(0)], true)).toBe(5_000);
  expect(pace.interval(3_600_000, [aged(0)], true)).toBe(10_000);
});
