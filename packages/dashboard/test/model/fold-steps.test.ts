import type { RunDetails } from '@sluice/host';
import { expect, test } from 'vitest';
import { createHistory, extendHistory } from '../../src/model/change-history.ts';
import { foldHistory, foldModel, foldSteps, groupsOf } from '../../src/model/fold-steps.ts';
import { createRunModel, lettersOf } from '../../src/model/run-model.ts';

type Step = RunDetails['plan']['steps'][number];

function step(name: string, dependencies: number[], more: Partial<Step> = {}): Step {
  return { step: name, kind: 'container', dependencies, level: 0, final: false, cells: 1, ...more };
}

/** `other` is between two steps of the group `big`. */
const STEPS: readonly Step[] = [
  step('first', []),
  step('big-a', [0], { group: 'big', level: 1 }),
  step('big-b', [1], { group: 'big', level: 2 }),
  step('other', [1], { level: 2 }),
  step('last', [2, 3], { level: 3 }),
  step('lone-a', [], { group: 'lone' }),
  step('clean', [], { final: true, level: 4 }),
  step('tell', [6], { final: true, level: 5 }),
];
const FOLDED = foldSteps([...STEPS], new Set(['big', 'lone', 'unknown']));

test('a group has several steps', () => {
  expect([...groupsOf([...STEPS])]).toEqual([['big', [1, 2]]]);
});

test('a folded group is one step in the place of its first one, with the edges of all and new levels', () => {
  expect(FOLDED.steps.map(({ step: name, dependencies, level }) => [name, dependencies, level])).toEqual([
    ['first', [], 0],
    ['big', [0], 1],
    ['other', [1], 2],
    ['last', [1, 2], 3],
    ['lone-a', [], 0],
    ['clean', [], 4],
    ['tell', [5], 5],
  ]);
  expect(FOLDED.members).toEqual([[0], [1, 2], [3], [4], [5], [6], [7]]);
  expect([...FOLDED.shownAs]).toEqual([0, 1, 1, 2, 3, 4, 5, 6]);
});

test('steps that depend on a group in a circle have levels, too', () => {
  const steps = [
    step('big-a', [], { group: 'big' }),
    step('between', [0], { level: 1 }),
    step('big-b', [1], { group: 'big', level: 2 }),
  ];
  expect(foldSteps(steps, new Set(['big'])).steps.map(({ level }) => level)).toEqual([0, 0]);
});

test('nothing folded changes nothing', () => {
  const steps = [...STEPS];
  expect(foldSteps(steps, new Set())).toMatchObject({ steps, shownAs: Int32Array.from(steps.keys()) });
});

test('a folded group has the states of its steps, and the time from their first start to their last end', () => {
  const model = createRunModel({ position: 3, states: ['s', 'sf', 'w', 'w', 'w', 'w', 'w', 'w'] });
  expect(lettersOf(foldModel(model, FOLDED))).toEqual(['s', 'sfw', 'w', 'w', 'w', 'w', 'w']);
  const history = createHistory(STEPS.length);
  extendHistory(
    history,
    [
      [1, 100, 1, 0, 'running', 1, false],
      [2, 200, 2, 0, 'running', 2, false],
      [3, 300, 1, 0, 'succeeded', 1, false],
      [4, 400, 3, 0, 'running', 1, false],
    ],
    4,
  );
  const folded = foldHistory(history, FOLDED);
  expect(folded.spans.slice(1, 3)).toEqual([
    { begunAt: 100, endedAt: 300 },
    { begunAt: 400, endedAt: undefined },
  ]);
  expect(folded.retries[1]).toEqual([{ at: 200, cell: 0, attempt: 2 }]);
  expect(folded.last[2]).toEqual([3]);
});
