import { expect, test } from 'vitest';
import { rowChoices } from '../../src/grid/row-choices.ts';

test('rowChoices begins with the axes that most steps have', () => {
  const sample = { each: ['sample'], axes: ['sample', 'group'] };
  const unit = { each: ['unit'], axes: ['unit', 'sample', 'group'] };
  const group = { each: ['group'], axes: ['group'] };
  const call = { each: ['sample', 'caller'], axes: ['sample', 'caller', 'group'] };
  expect(rowChoices([unit, sample, sample, group, call])).toEqual([
    ['sample'],
    ['group'],
    ['unit'],
    ['sample', 'caller'],
  ]);
  expect(
    rowChoices([
      { each: ['fold', 'trial'], axes: ['fold', 'trial'] },
      { each: ['trial', 'fold'], axes: ['trial', 'fold'] },
    ]),
  ).toEqual([['fold', 'trial']]);
  expect(rowChoices([])).toEqual([]);
});
