import { expect, test } from 'vitest';
import { matchesFilter, type RunFilter } from '../../src/report/run-filter.ts';
import type { RunSummary } from '../../src/schemas/run-entry.ts';

const RUN: RunSummary = {
  ...{ runId: 'r1', pipeline: 'train', status: 'failed', createdAt: 1000, startedAt: 9000 },
  labels: { team: 'vision', nightly: '', rule: 'a=b' },
};

test.each<[matches: boolean, filter: RunFilter]>([
  [true, {}],
  [true, { statuses: [], labels: [] }],
  [true, { statuses: ['running', 'failed'], pipeline: 'train' }],
  [false, { statuses: ['running'] }],
  [false, { pipeline: 'trai' }],
  [true, { labels: ['team', 'team=vision', 'nightly', 'nightly=', 'rule=a=b'] }],
  [false, { labels: ['team=vision', 'team=speech'] }],
  [false, { labels: ['toString'] }],
  [true, { createdAfter: 999, createdBefore: 1001 }],
  [false, { createdAfter: 1000 }],
  [false, { createdBefore: 1000 }],
])('matchesFilter is %s for %j', (matches, filter) => {
  expect(matchesFilter(RUN, filter)).toBe(matches);
});

test('a run without labels has none of them', () => {
  const { labels: _, ...run } = RUN;
  expect(matchesFilter(run, { labels: ['team'] })).toBe(false);
  expect(matchesFilter(run, { labels: [] })).toBe(true);
});
