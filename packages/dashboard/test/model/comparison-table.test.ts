import type { CellEntry } from '@sluice/host';
import { expect, test } from 'vitest';
import { numericColumns, pointsOf, sortRows, tableOfCells } from '../../src/model/comparison-table.ts';

function cell(index: number, values: Partial<CellEntry>): CellEntry {
  return {
    ...{ step: 'fit', cell: `c-${index}`, stepIndex: 0, cellIndex: index, status: 'succeeded', attempt: 1 },
    ...{ beganAt: '2026-01-01T00:00:00.000Z', endedAt: `2026-01-01T00:00:0${index}.500Z` },
    ...values,
  };
}

const table = tableOfCells([
  cell(1, { matrix: { rate: 0.5, mode: 'fast' }, results: { loss: 3, rate: 9 } }),
  cell(2, { matrix: { rate: 0.1, mode: 'slow' }, results: { loss: 10 } }),
  cell(3, { matrix: { rate: 0.2, mode: 'fast' }, status: 'failed' }),
]);

test('the columns of cells are axes, results, duration and attempts', () => {
  expect(table.columns).toEqual(['rate', 'mode', 'loss', 'result rate', 'duration (s)', 'attempts']);
  expect(table.rows[0]).toEqual({
    ...{ key: '1', label: 'c-1', status: 'succeeded' },
    values: [0.5, 'fast', 3, 9, 1.5, 1],
  });
  expect(numericColumns(table)).toEqual([0, 2, 3, 4, 5]);
});

test('rows are sorted as numbers, and those without a value come last in both directions', () => {
  const order = (column: number, isDescending = false) =>
    sortRows(table, column, isDescending).map(({ label }) => label);
  expect(order(0)).toEqual(['c-2', 'c-3', 'c-1']);
  expect(order(2)).toEqual(['c-1', 'c-2', 'c-3']);
  expect(order(2, true)).toEqual(['c-2', 'c-1', 'c-3']);
  expect(order(1)).toEqual(['c-1', 'c-3', 'c-2']);
});

test('points are those with both values, by x; texts are numbered', () => {
  expect(pointsOf(table, 0, 2)).toEqual({
    points: [
      { x: 0.1, y: 10, label: 'c-2' },
      { x: 0.5, y: 3, label: 'c-1' },
    ],
    texts: undefined,
  });
  expect(pointsOf(table, 1, 4)).toMatchObject({ texts: ['fast', 'slow'], points: [{ x: 0 }, { x: 0 }, { x: 1 }] });
  expect(pointsOf(table, undefined, 4).texts).toEqual(['c-1', 'c-2', 'c-3']);
});
