import { expect, test } from 'vitest';
import { createHistory, extendHistory } from '../../src/model/change-history.ts';
import { codeOf, STATUSES } from '../../src/model/statuses.ts';
import { findCellBars, findRetries, findStepBar } from '../../src/model/timeline-bars.ts';

function sample() {
  const history = createHistory(1);
  extendHistory(
    history,
    [
      [1, 100, 0, 0, 'ready', 0, false],
      [2, 150, 0, 0, 'submitting', 1, false],
      [3, 200, 0, 0, 'pending', 1, false],
      [4, 300, 0, 0, 'running', 1, false],
      [5, 500, 0, 0, 'publishing', 1, false],
      [6, 550, 0, 0, 'ready', 1, false],
      [7, 600, 0, 0, 'running', 2, false],
      [8, 900, 0, 0, 'failed', 2, false],
    ],
    8,
  );
  return history;
}

test('findCellBars shows waiting, queueing and running of each attempt', () => {
  expect(findCellBars(sample(), { step: 0, cell: 0 }, 2_000)).toMatchObject([
    { kind: 'wait', from: 100, to: 200 },
    { kind: 'queue', from: 200, to: 300 },
    { kind: 'ran', from: 300, to: 550, tone: 'calm' },
    { kind: 'wait', from: 550, to: 600 },
    { kind: 'ran', from: 600, to: 900, tone: 'bad' },
  ]);
});

test('findRetries finds the beginnings of later attempts, of a cell or of all, until a time', () => {
  const history = sample();
  const retry = { at: 600, cell: 0, attempt: 2 };
  expect(findRetries(history, { step: 0 }, 2_000)).toEqual([retry]);
  expect(findRetries(history, { step: 0, cell: 0 }, 600)).toEqual([retry]);
  expect(findRetries(history, { step: 0, cell: 1 }, 2_000)).toEqual([]);
  expect(findRetries(history, { step: 0 }, 599)).toEqual([]);
});

test('findCellBars ends what is in progress now', () => {
  const history = createHistory(1);
  extendHistory(history, [[1, 100, 0, 0, 'running', 1, false]], 1);
  expect(findCellBars(history, { step: 0, cell: 0 }, 400)).toMatchObject([{ from: 100, to: 400, tone: 'busy' }]);
});

test('findStepBar reaches from the first start to the last end', () => {
  const counts: number[] = STATUSES.map(({ status, label }) => (label === 'reused' ? 0 : status === 'failed' ? 1 : 0));
  counts[codeOf('succeeded')] = 31;
  expect(findStepBar(sample(), 0, { now: 2_000, code: codeOf('failed'), counts })).toMatchObject([
    {
      ...{ from: 300, to: 900, tone: 'bad' },
      shares: expect.arrayContaining([
        { tone: 'bad', count: 1 },
        { tone: 'good', count: 31 },
      ]),
    },
  ]);
});
