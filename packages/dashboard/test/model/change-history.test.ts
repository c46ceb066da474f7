import { expect, test } from 'vitest';
import {
  changesOfCell,
  countUntil,
  createHistory,
  extendHistory,
  replayHistory,
} from '../../src/model/change-history.ts';
import { lettersOf } from '../../src/model/run-model.ts';

type CellChange = Parameters<typeof extendHistory>[1][number];
type Status = CellChange[4];

const change = (position: number, at: number, [step, cell]: readonly [number, number], status: Status): CellChange => [
  ...([position, at, step, cell, status, 1, false] as const),
];
const CHANGES = [
  change(1, 100, [0, 0], 'running'),
  change(2, 150, [0, 2], 'running'),
  change(3, 200, [0, 0], 'succeeded'),
  change(4, 180, [1, 0], 'running'),
  change(5, 300, [0, 2], 'failed'),
];

function createExample() {
  const history = createHistory(2);
  extendHistory(history, CHANGES, 5);
  return history;
}

test('a history has the changes of each cell in order', () => {
  const history = createExample();
  expect(changesOfCell(history, 0, 0)).toEqual([0, 2]);
  expect(changesOfCell(history, 0, 2)).toEqual([1, 4]);
  for (const [step, cell] of [
    [0, 1],
    [0, 9],
    [1, 1],
    [7, 0],
  ] as const)
    expect(changesOfCell(history, step, cell)).toEqual([]);
});

test('a step has the time from its first start to its latest end', () => {
  expect(createExample().spans).toEqual([
    { begunAt: 100, endedAt: 300 },
    { begunAt: 180, endedAt: undefined },
  ]);
});

test('changes that are sent again, after a reconnect, are known, and those of unknown steps are ignored', () => {
  const history = createHistory(2);
  extendHistory(history, CHANGES.slice(0, 3), 3);
  extendHistory(history, CHANGES, 5);
  extendHistory(history, [change(6, 400, [5, 0], 'running')], 6);
  extendHistory(history, CHANGES.slice(0, 1), 1);
  expect(history.at).toEqual(createExample().at);
  expect(history.position).toBe(6);
});

test('a replay has the states after so many changes, and continues from an earlier one', () => {
  const history = createExample();
  const early = replayHistory(history, 2);
  expect(lettersOf(early.model)).toEqual(['rwr', 'w']);
  const late = replayHistory(history, 5, early);
  expect(lettersOf(late.model)).toEqual(['swf', 'r']);
  // Back in time, it begins again.
  expect(lettersOf(replayHistory(history, 1, late).model)).toEqual(['rww', 'w']);
});

test('countUntil counts the changes up to a time', () => {
  const history = createHistory(1);
  const at = [100, 200, 200, 300];
  extendHistory(
    history,
    at.map((time, index) => change(index + 1, time, [0, index], 'running')),
    4,
  );
  expect([99, 100, 199, 200, 299, 300, 301].map((time) => countUntil(history, time))).toEqual([0, 1, 1, 3, 3, 4, 4]);
});
