import type { RunDetails } from '@sluice/host';
import { expect, test } from 'vitest';
import { createHistory, extendHistory } from '../../src/model/change-history.ts';
import { timesOfRun } from '../../src/model/times-of-run.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const RUN = { createdAt: '2026-01-01T00:00:00.000Z' } as RunDetails;

test('the times of a run reach to its end, to the present, or to its last change', () => {
  const history = createHistory(1);
  extendHistory(history, [[1, START + 700, 0, 0, 'running', 1, false]], 1);
  expect(timesOfRun({ ...RUN, endedAt: '2026-01-01T00:00:02.500Z' }, history, undefined).end).toBe(START + 2_500);
  expect(timesOfRun(RUN, history, START + 900).end).toBe(START + 900);
  expect(timesOfRun(RUN, history, undefined)).toEqual({ startedAt: START, end: START + 700 });
  expect(timesOfRun(RUN, undefined, undefined)).toEqual({ startedAt: START, end: START });
  // The clock of the browser is behind.
  expect(timesOfRun(RUN, history, START - 5).end).toBe(START);
});
