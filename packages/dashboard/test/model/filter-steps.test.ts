import { expect, test } from 'vitest';
import type { PlanSteps } from '../../src/layout/plan-shape.ts';
import { filterSteps, searchTexts } from '../../src/model/filter-steps.ts';
import { createRunModel } from '../../src/model/run-model.ts';

const step = (name: string, more: Partial<PlanSteps[number]> = {}): PlanSteps[number] => ({
  ...{ step: name, level: 0, dependencies: [], final: false, cells: 1, kind: 'container' },
  ...more,
});
const STEPS = [
  step('fit', { image: 'python:3.12', instanceType: 'gpu-large' }),
  step('ask', { kind: 'approval' }),
  step('score'),
];
const model = createRunModel({ position: 1, states: ['ssf', 'a', 'e'] });

test.each([
  ['', [1, 1, 1]],
  ['FIT', [1, 0, 0]],
  ['python', [1, 0, 0]],
  ['gpu', [1, 0, 0]],
  ['approval', [0, 1, 0]],
  // Any cell of the step counts, not only the state that stands for the step.
  ['succeeded', [1, 0, 0]],
  ['fit failed', [1, 0, 0]],
  ['score failed', [0, 0, 0]],
  ['reused', [0, 0, 1]],
])('a search for %j finds steps by name, image, kind and state', (search, shown) => {
  expect([...filterSteps(searchTexts(STEPS), model, { search, isHiding: false, withCells: new Set() })]).toEqual(shown);
});

test('finished steps can be hidden', () => {
  expect([...filterSteps(searchTexts(STEPS), model, { search: '', isHiding: true, withCells: new Set([0]) })]).toEqual([
    0, 1, 0,
  ]);
});

test('a step whose cells were found is shown', () => {
  const filter = { search: 'lr-3', isHiding: false, withCells: new Set([2]) };
  expect([...filterSteps(searchTexts(STEPS), model, filter)]).toEqual([0, 0, 1]);
});
