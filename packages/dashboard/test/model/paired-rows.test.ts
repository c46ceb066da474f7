import type { RunDetails } from '@sluice/host';
import { expect, test } from 'vitest';
import { type PairedCells, pairRows } from '../../src/model/paired-rows.ts';
import { codeOf } from '../../src/model/statuses.ts';

const [GOOD, BAD] = [codeOf('succeeded'), codeOf('failed')];

/** Steps with these names, one after the other. */
function plan(...names: readonly string[]): RunDetails['plan']['steps'] {
  return names.map((step, level) => ({ step, kind: 'container', dependencies: [], level, final: false, cells: 1 }));
}

/** The rows as `STEP` or `STEP/CELL`, with the indexes in each run. */
function textsOf(rows: ReturnType<typeof pairRows>): string[] {
  return rows.map(({ step, cell, places }) => {
    const indexes = places.map((place) => (place === undefined ? '-' : `${place.step}.${place.cell ?? ''}`));
    return `${cell === undefined ? step : `${step}/${cell}`} ${indexes.join(' ')}`;
  });
}

test('pairRows has one row for each step where no cells are shown', () => {
  expect(textsOf(pairRows([plan('a', 'b'), plan('b', 'c')], () => undefined))).toEqual(['a 0. -', 'b 1. 0.', 'c - 1.']);
});

test('pairRows aligns the cells of a step by their names, and puts those first that failed in one run', () => {
  const cells: PairedCells = {
    names: [
      ['n-1', 'n-2', 'n-3', 'n-4'],
      ['n-4', 'n-5', 'n-1', 'n-3'],
    ],
    codes: [Uint8Array.of(GOOD, GOOD, BAD, GOOD), Uint8Array.of(GOOD, BAD, GOOD, GOOD)],
  };
  const rows = pairRows([plan('a', 'fit'), plan('fit')], ({ name }) => (name === 'fit' ? cells : undefined));
  expect(textsOf(rows)).toEqual([
    ...['a 0. -', 'fit 1. 0.'],
    ...['fit/n-3 1.2 0.3', 'fit/n-5 - 0.1'],
    ...['fit/n-1 1.0 0.2', 'fit/n-2 1.1 -', 'fit/n-4 1.3 0.0'],
  ]);
});

test('pairRows shows the cells of a step that only one run has', () => {
  const cells: PairedCells = { names: [[], ['n-1']], codes: [new Uint8Array(), Uint8Array.of(GOOD)] };
  expect(textsOf(pairRows([plan(), plan('fit')], () => cells))).toEqual(['fit - 0.', 'fit/n-1 - 0.0']);
});
