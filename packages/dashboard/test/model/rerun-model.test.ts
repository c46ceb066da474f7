import { describe, expect, test } from 'vitest';
import { createRerunModel, rerunWords } from '../../src/model/rerun-model.ts';
import { lettersOf } from '../../src/model/run-model.ts';

const NOTHING = { reused: 0, skipped: 0, reason: '', reusedMs: 0, unmeasured: 0 };
const PREVIEW = {
  run: ['fit', 'list', 'added'],
  reused: ['prepare', 'skip'],
  steps: [
    { ...NOTHING, step: 'prepare', cells: 1, reused: 1 },
    { ...NOTHING, step: 'fit', cells: 4, reused: 2, skipped: 1, reason: 'differs in env.RATE' },
    { ...NOTHING, step: 'skip', cells: 1, skipped: 1 },
    { ...NOTHING, step: 'list', reason: 'comes after fit' },
    { ...NOTHING, step: 'added', cells: 1, reason: 'did not succeed in run x' },
  ],
};
const STEPS = ['prepare', 'fit', 'skip', 'list', 'gone'].map((step) => ({ step }));

describe('createRerunModel', () => {
  test('has a state for each cell, and shows faintly what the rerun does not have', () => {
    const { model, shown } = createRerunModel(STEPS, PREVIEW);
    expect(lettersOf(model)).toEqual(['e', 'eekr', 'k', 'r', '']);
    expect([...shown]).toEqual([1, 1, 1, 1, 0]);
  });

  test('without details, every step runs', () => {
    const { model } = createRerunModel(STEPS.slice(0, 2), { run: ['prepare', 'fit'], reused: [] });
    expect(lettersOf(model)).toEqual(['r', 'r']);
  });
});

test('rerunWords says what happens to a step, and why', () => {
  expect(STEPS.map(({ step }) => rerunWords(step, PREVIEW))).toEqual([
    'is reused',
    '2 cells are reused, 1 skipped, 1 run: differs in env.RATE',
    'is skipped',
    'its cells run: comes after fit',
    'is not in the pipeline any more',
  ]);
  expect(rerunWords('fit', { run: ['fit'], reused: ['prepare'] })).toBe('is run');
});
