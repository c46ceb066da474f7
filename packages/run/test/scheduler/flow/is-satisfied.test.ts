import { describe, expect, test } from 'vitest';
import { isSatisfied, type SourceEnd } from '../../../src/scheduler/flow/is-satisfied.ts';
import type { CellState } from '../../../src/scheduler/model/cell-state.ts';
import { CODE } from '../../../src/scheduler/model/state-code.ts';

const END: SourceEnd = { seen: 0, isSingle: true, isTolerant: false, hasRun: true };
const STATES: readonly CellState[] = ['succeeded', 'cached', 'failed', 'errored', 'timedOut', 'canceled', 'skipped'];

/** For each condition the ends that satisfy it, in the order of `STATES`. */
const TABLE = {
  succeeded: { single: 'YY.....', tolerant: 'YY.....', neverRan: 'YY.....' },
  failed: { single: '..YYY..', tolerant: '..YYY..', neverRan: '..YYY..' },
  completed: { single: 'YYYYYYY', tolerant: 'YYYYYYY', neverRan: 'YYYYYYY' },
  skipped: { single: '......Y', tolerant: '......Y', neverRan: '......Y' },
  running: { single: 'YYYYYYY', tolerant: 'YYYYYYY', neverRan: 'YY.....' },
} as const;

const VARIANTS = { single: {}, tolerant: { isTolerant: true }, neverRan: { hasRun: false } } as const;

/** The same for a directory of cells with one success beside a cell that ended in the state, and without a success. */
const DIRECTORIES = {
  succeeded: { strict: 'YY....Y', tolerant: 'YYYYY.Y', withoutSuccess: '.......' },
  failed: { strict: '..YYY..', tolerant: '..YYY..', withoutSuccess: '..YYY..' },
  skipped: { strict: '......Y', tolerant: '......Y', withoutSuccess: '......Y' },
} as const;

function draw(condition: keyof typeof TABLE, of: (state: CellState) => SourceEnd): string {
  return STATES.map((state) => (isSatisfied(condition, of(state)) ? 'Y' : '.')).join('');
}

describe('isSatisfied', () => {
  for (const condition of Object.keys(TABLE) as (keyof typeof TABLE)[]) {
    for (const variant of Object.keys(VARIANTS) as (keyof typeof VARIANTS)[]) {
      test(`isSatisfied: ${condition}, of a single cell, ${variant}`, () => {
        const row = draw(condition, (state) => ({ ...END, ...VARIANTS[variant], seen: 1 << CODE[state] }));
        expect(row).toBe(TABLE[condition][variant]);
      });
    }
  }

  for (const condition of Object.keys(DIRECTORIES) as (keyof typeof DIRECTORIES)[]) {
    test(`isSatisfied: ${condition}, of a directory`, () => {
      const directory = { ...END, isSingle: false };
      const beside = (state: CellState) => (1 << CODE.succeeded) | (1 << CODE[state]);
      expect(draw(condition, (state) => ({ ...directory, seen: beside(state) }))).toBe(DIRECTORIES[condition].strict);
      expect(draw(condition, (state) => ({ ...directory, isTolerant: true, seen: beside(state) }))).toBe(
        DIRECTORIES[condition].tolerant,
      );
      const withoutSuccess = STATES.slice(2).map((state) =>
        isSatisfied(condition, { ...directory, isTolerant: true, seen: 1 << CODE[state] }) ? 'Y' : '.',
      );
      expect(`..${withoutSuccess.join('')}`).toBe(DIRECTORIES[condition].withoutSuccess);
    });
  }

  test('nothing but `completed` accepts a step without cells', () => {
    const ends = Object.keys(TABLE).filter((condition) =>
      isSatisfied(condition as keyof typeof TABLE, { ...END, isSingle: false, hasRun: false }),
    );
    expect(ends).toEqual(['completed']);
  });
});
