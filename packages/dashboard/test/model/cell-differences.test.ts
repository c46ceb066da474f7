import type { CellEntry } from '@sluice/host';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareCells, DIFFERENCE_KINDS } from '../../src/model/cell-differences.ts';

/** A cell of the step `s` that took so many seconds. */
function cell(name: string, more: Partial<CellEntry> = {}, seconds = 10): CellEntry {
  const times = { beganAt: new Date(0).toISOString(), endedAt: new Date(seconds * 1_000).toISOString() };
  const place = { step: 's', cell: name, stepIndex: 0, cellIndex: 0, attempt: 1 };
  return { ...place, ...times, status: 'succeeded', ...more } as CellEntry;
}

function whole(...cells: CellEntry[]) {
  return { cells, total: cells.length };
}

const CELLS = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom(...'abcdefgh'),
      status: fc.constantFrom('succeeded', 'failed', 'skipped', 'running'),
      score: fc.nat(2),
      seconds: fc.nat(20),
      reused: fc.boolean(),
    }),
    { selector: ({ name }) => name },
  )
  .map((cells) =>
    whole(
      ...cells.map(({ name, status, score, seconds, reused }) =>
        cell(
          name,
          { status, results: { score }, ...(status === 'succeeded' && reused && { reused }) } as Partial<CellEntry>,
          seconds,
        ),
      ),
    ),
  );

test('compareCells puts failures first, then statuses, results, durations, and cells of one run', () => {
  const first = whole(
    cell('same'),
    cell('slow', {}, 12),
    cell('slower', {}, 20),
    cell('score', { results: { score: 0.5, same: 1 } }),
    cell('added'),
    cell('skipped', { status: 'skipped' }),
    cell('broken', { status: 'failed' }, 4),
  );
  const second = whole(
    ...['same', 'slow', 'slower'].map((name) => cell(name)),
    cell('score', { results: { score: 0.75, same: 1, more: [1] } }, 30),
    cell('skipped'),
    cell('broken'),
    cell('removed'),
  );
  expect(compareCells(first, second).map(({ name, kind, words }) => [name, kind, words])).toEqual([
    ['s/broken', 'failure', ['failed in A, succeeded in B', '6.0 s longer in B']],
    ['s/skipped', 'status', ['skipped in A, succeeded in B']],
    ['s/score', 'result', ['score: 0.5 in A, 0.75 in B', 'more: none in A, [1] in B', '20 s longer in B']],
    ['s/slower', 'duration', ['10 s longer in A']],
    ['s/slow', 'duration', ['2.0 s longer in A']],
    ['s/added', 'only one run', ['only in A']],
    ['s/removed', 'only one run', ['only in B']],
  ]);
});

test('compareCells ignores durations of chance, and those of reused results', () => {
  const differ = (a: CellEntry, b: CellEntry) => compareCells(whole(a), whole(b)).length > 0;
  expect(differ(cell('a', {}, 1), cell('a', {}, 1.9))).toBe(false);
  expect(differ(cell('a', {}, 1), cell('a', {}, 2))).toBe(true);
  expect(differ(cell('a', {}, 100), cell('a', {}, 109))).toBe(false);
  expect(differ(cell('a', {}, 100), cell('a', {}, 120))).toBe(true);
  expect(differ(cell('a', { reused: true }, 1), cell('a', {}, 120))).toBe(false);
});

test('compareCells keeps the order of cells whose durations differ by chance', () => {
  const cells = (score: number, ...seconds: number[]) =>
    whole(...seconds.map((all, index) => cell(`${index}`, { results: { score } }, all)));
  const differences = compareCells(cells(1, 0.1, 0.2, 9), cells(2, 0.1, 0.9, 3));
  expect(differences.map(({ name }) => name)).toEqual(['s/2', 's/0', 's/1']);
});

test('a cell beyond those that are known is no difference', () => {
  const part = { cells: [cell('a')], total: 2 };
  expect(compareCells(whole(cell('a'), cell('b')), part)).toEqual([]);
  expect(compareCells(part, whole(cell('a'), cell('b')))).toEqual([]);
  expect(compareCells(part, part)).toEqual([]);
});

test('compareCells has each cell at most once, the worst kind first, and the same cells both ways', () => {
  fc.assert(
    fc.property(CELLS, CELLS, (a, b) => {
      expect(compareCells(a, a)).toEqual([]);
      const [there, back] = [compareCells(a, b), compareCells(b, a)];
      const names = there.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      expect(back.map(({ name, kind }) => `${name} ${kind}`).sort()).toEqual(
        there.map(({ name, kind }) => `${name} ${kind}`).sort(),
      );
      const ranks = there.map(({ kind }) => DIFFERENCE_KINDS.indexOf(kind));
      expect(ranks).toEqual(ranks.toSorted((x, y) => x - y));
    }),
  );
});
