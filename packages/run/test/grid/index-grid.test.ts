import { describe, expect, test } from 'vitest';
import type { GridStep } from '../../src/grid/grid-step.ts';
import { indexGrid } from '../../src/grid/index-grid.ts';
import { countColumns, findFailedRows, readGridRow } from '../../src/grid/read-grid.ts';
import { SHOWN_STATUSES } from '../../src/schemas/statuses.ts';
import { createRandom } from '../random.ts';

type Keys = Readonly<Record<string, string>>;

/** A step whose cells have these keys. */
function createGridStep(step: number, each: readonly string[], cells: readonly Keys[]): GridStep {
  return {
    step,
    each,
    axes: [...new Set([...each, ...cells.flatMap((cell) => Object.keys(cell))])],
    cells: cells.map((_, cell) => cell),
    nameOf: (cell) => each.map((axis) => cells[cell]![axis]).join(),
    keyOf: (cell, axis) => cells[cell]![axis],
  };
}

const codeOf = (letter: string) => SHOWN_STATUSES.findIndex((shown) => shown.letter === letter);
const readCodes = (codes: readonly string[]) => (step: number, cell: number) => codeOf(codes[step]![cell]!);
const letter = (code: number) => SHOWN_STATUSES[code]!.letter;

describe('indexGrid', () => {
  const units = [
    { unit: 'u1', sample: 'S1' },
    { unit: 'u2', sample: 'S1' },
    { unit: 'u3', sample: 'S2' },
    { unit: 'u4' },
  ];
  const align = createGridStep(0, ['unit'], units);
  const merge = createGridStep(2, ['sample'], [{ sample: 'S1' }, { sample: 'S2' }, { sample: 'S3' }]);
  const callers = ['S1', 'S2', 'S3'].flatMap((sample) => ['b', 'f'].map((caller) => ({ sample, caller })));
  const call = createGridStep(3, ['sample', 'caller'], callers);
  const table = createGridStep(4, ['caller'], [{ caller: 'b' }, { caller: 'f' }]);
  const codes = readCodes(['sfss', '', 'skr', 'ssffwq', 'ww']);
  const steps = [align, merge, call, table];

  test('has a row for each item and a column for each step with its axis, which may have no cell there', () => {
    const grid = indexGrid(steps, ['sample']);
    expect(grid.rows).toEqual(['S1', 'S2', 'S3']);
    expect(grid.columns.map(({ step }) => step)).toEqual([0, 2, 3]);
    const entries = grid.rows.map((_, row) => readGridRow(grid, row, codes));
    expect(entries.map((row) => row.map((entry) => (entry === undefined ? '' : letter(entry.code))).join('|'))).toEqual(
      ['f|s|s', 's|k|f', '|r|q'],
    );
    expect(entries[0]!.map((entry) => [...entry!.cells])).toEqual([[0, 1], [0], [0, 1]]);
  });

  test('has a row for each combination of items', () => {
    const grid = indexGrid(steps, ['caller', 'sample']);
    expect(grid.rows).toEqual(['b,S1', 'f,S1', 'b,S2', 'f,S2', 'b,S3', 'f,S3']);
    expect(grid.columns.map(({ step }) => step)).toEqual([3]);
  });

  test('grows by the cells that become known', () => {
    const late = createGridStep(5, ['shard'], [{ shard: 'p1', sample: 'S2' }]);
    expect(indexGrid([merge, createGridStep(5, ['shard'], [])], ['shard']).rows).toEqual([]);
    expect(indexGrid([merge, late], ['shard']).rows).toEqual(['p1']);
    const grid = indexGrid([merge, late], ['sample']);
    expect(grid.rows).toEqual(['S1', 'S2', 'S3']);
    expect([...grid.columns[1]!.rowOf]).toEqual([1]);
    // Of the first list, further items have the highest numbers; the second one was empty.
    const names = ['S1,p1', 'S2,*', 'S3,p1', 'S1,p2'];
    const listed = { ...createGridStep(5, ['shard'], []), cells: [0, 3, 2], nameOf: (cell: number) => names[cell]! };
    expect(indexGrid([listed], ['shard'])).toMatchObject({ rows: ['S1,p1', 'S1,p2', 'S3,p1'] });
  });

  test('tells items with equal keys of several lists apart', () => {
    const shards = [
      { shard: 'p1', sample: 'S1' },
      { shard: 'p1', sample: 'S2' },
    ];
    const work = { ...createGridStep(5, ['shard'], shards), nameOf: (cell: number) => `S${cell + 1},p1` };
    const more = ['b', 'f'].flatMap((caller) => shards.toReversed().map((keys) => ({ ...keys, caller })));
    const grid = indexGrid([work, createGridStep(6, ['shard', 'caller'], more)], ['shard']);
    expect(grid.rows).toEqual(['S1,p1', 'S2,p1']);
    expect([...grid.columns[1]!.rowOf]).toEqual([1, 0, 1, 0]);
  });

  test('findFailedRows and countColumns regard all cells', () => {
    const grid = indexGrid(steps, ['sample']);
    expect(findFailedRows(grid, codes)).toEqual([0, 1]);
    const [aligned] = countColumns(grid, codes);
    expect([aligned![codeOf('s')], aligned![codeOf('f')]]).toEqual([3, 1]);
  });

  test('agrees with a naive grid', () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = createRandom(`grid ${seed}`);
      const axes = ['a', 'b', 'c'];
      const subset = () => [random.pick(axes), ...axes.filter(() => random.chance(0.4))];
      const steps = [0, 1, 2, 3].map((step) => {
        const each = [...new Set(subset())];
        const hasKey = (axis: string) => each.includes(axis) || random.chance(0.6);
        const randomKeys = (): Keys =>
          Object.fromEntries(axes.filter(hasKey).map((axis) => [axis, `${axis}${random.below(4)}`]));
        const cells = Array.from({ length: random.below(20) }, randomKeys);
        return {
          cells,
          letters: cells.map(() => random.pick(SHOWN_STATUSES).letter),
          of: createGridStep(step, each, cells),
        };
      });
      const wanted = [...new Set(subset())];
      const codes = readCodes(steps.map(({ letters }) => letters.join('')));
      const grid = indexGrid(
        steps.map(({ of }) => of),
        wanted,
      );
      const nameOf = (keys: Keys) =>
        wanted.every((axis) => axis in keys) ? wanted.map((axis) => keys[axis]).join() : '';
      const columns = steps.filter(({ of }) => wanted.every((axis) => of.axes.includes(axis)));
      const names = [...new Set(columns.flatMap(({ cells }) => cells.map(nameOf)))].filter((name) => name !== '');
      expect([...grid.rows].sort(), `seed ${seed}`).toEqual(names.sort());
      grid.rows.forEach((name, row) => {
        const entries = readGridRow(grid, row, codes);
        columns.forEach(({ cells }, column) => {
          const own = cells.flatMap((keys, cell) => (nameOf(keys) === name ? [cell] : []));
          expect([...(entries[column]?.cells ?? [])], `seed ${seed}, row ${name}`).toEqual(own);
          expect(entries[column]?.counts.reduce((sum, count) => sum + count, 0) ?? 0).toBe(own.length);
        });
      });
      const hasFailed = (name: string) =>
        columns.some(({ cells, letters }) =>
          cells.some((keys, cell) => nameOf(keys) === name && letters[cell] === 'f'),
        );
      const failed = findFailedRows(grid, codes).map((row) => grid.rows[row]);
      expect(failed, `seed ${seed}`).toEqual(grid.rows.filter(hasFailed));
    }
  });

  test('is cheap for 100,000 rows of five steps', () => {
    const names = Array.from({ length: 100_000 }, (_, index) => ({ sample: `S${index}` }));
    const many = Array.from({ length: 5 }, (_, step) => createGridStep(step, ['sample'], names));
    const from = performance.now();
    const grid = indexGrid(many, ['sample']);
    expect(grid.rows.length).toBe(100_000);
    expect(findFailedRows(grid, () => codeOf('s'))).toEqual([]);
    // Far above what it takes, and far below what a quadratic one would.
    expect(performance.now() - from).toBeLessThan(60_000);
  });
});
