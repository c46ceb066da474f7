import { expect, test } from 'vitest';
import { failedFirst } from '../../src/model/failed-first.ts';
import { createRunModel } from '../../src/model/run-model.ts';

test('the cells that failed are first, and all others keep their order', () => {
  const model = createRunModel({ position: 0, states: ['sfwfsr', ''] });
  expect(failedFirst(model.cells[0]!)).toEqual([1, 3, 0, 2, 4, 5]);
  expect(failedFirst(model.cells[1]!)).toEqual([]);
});
