import type { CellEntry } from '@sluice/host';
import { expect, test } from 'vitest';
import { heatMapOf, heatValues } from '../../src/model/heat-map.ts';

function cell(cellIndex: number, matrix: CellEntry['matrix'], more: Partial<CellEntry> = {}): CellEntry {
  const place = { step: 's', cell: `c${cellIndex}`, stepIndex: 0, cellIndex, attempt: 1 };
  return { ...place, status: 'succeeded', ...(matrix && { matrix }), ...more } as CellEntry;
}

const CELLS = [
  cell(0, { model: 'tree', rate: 0.1 }, { results: { score: 3, text: 'x' } }),
  cell(1, { model: 'tree', rate: 0.5 }, { results: { score: -1 } }),
  cell(2, { model: 'linear', rate: 0.5 }, { status: 'failed', results: {} }),
];

test('a map has a place for each combination', () => {
  const map = heatMapOf(CELLS, { across: 'rate' })!;
  expect(map).toMatchObject({ axes: ['model', 'rate'], across: 'rate', columns: ['0.1', '0.5'], range: undefined });
  expect(map.rows.map(({ name, tiles }) => [name, tiles.map((tile) => tile?.cell.cell)])).toEqual([
    ['tree', ['c0', 'c1']],
    ['linear', [undefined, 'c2']],
  ]);
});

test('a map has the axis with the most values across', () => {
  const more = cell(3, { model: 'tree', rate: 1 });
  expect(heatMapOf(CELLS, {})!.across).toBe('model');
  expect(heatMapOf([...CELLS, more], { across: 'unknown' })!.across).toBe('rate');
});

test('a map has the numbers of a result, and another axis across', () => {
  const map = heatMapOf(CELLS, { across: 'model', value: 'score' })!;
  expect(map).toMatchObject({ across: 'model', columns: ['tree', 'linear'], range: [-1, 3] });
  expect(map.rows.map(({ tiles }) => tiles.map((tile) => tile?.value))).toEqual([
    [3, undefined],
    [-1, undefined],
  ]);
});

test('it can be colored by numbers only, results first, and cells without axes have no map', () => {
  expect(heatValues(CELLS)[0]).toBe('score');
  expect(heatValues(CELLS)).not.toContain('text');
  expect(heatValues(CELLS)).not.toContain('rate');
  expect(heatMapOf([cell(0, undefined), cell(1, undefined)], {})).toBeUndefined();
  expect(heatMapOf(CELLS.slice(0, 1), {})).toBeUndefined();
});
