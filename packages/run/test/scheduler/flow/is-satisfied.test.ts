import { describe, expect, test } from 'vitest';
import { isSatisfied, type StepEnd } from '../../../src/scheduler/flow/is-satisfied.ts';
import type { CellState } from '../../../src/scheduler/model/cell-state.ts';

const END: StepEnd = { state: 'succeeded', byWhen: false, tolerated: false, ran: true };
const STATES: readonly CellState[] = ['succeeded', 'cached', 'failed', 'errored', 'timedOut', 'canceled', 'skipped'];

/** For each condition the ends that satisfy it, in the order of `STATES`. */
const TABLE = {
  succeeded: { plain: 'YY.....', tolerated: 'YYYYY..', byWhen: 'YY....Y', neverRan: 'YY.....' },
  failed: { plain: '..YYY..', tolerated: '..YYY..', byWhen: '..YYY..', neverRan: '..YYY..' },
  completed: { plain: 'YYYYYYY', tolerated: 'YYYYYYY', byWhen: 'YYYYYYY', neverRan: 'YYYYYYY' },
  skipped: { plain: '......Y', tolerated: '......Y', byWhen: '......Y', neverRan: '......Y' },
  running: { plain: 'YYYYYYY', tolerated: 'YYYYYYY', byWhen: 'YYYYYYY', neverRan: 'YY.....' },
} as const;

const VARIANTS = {
  plain: {},
  tolerated: { tolerated: true },
  byWhen: { byWhen: true },
  neverRan: { ran: false },
} as const;

describe('isSatisfied', () => {
  for (const condition of Object.keys(TABLE) as (keyof typeof TABLE)[]) {
    for (const variant of Object.keys(VARIANTS) as (keyof typeof VARIANTS)[]) {
      test(`isSatisfied: ${condition}, of a step that is ${variant}`, () => {
        const row = STATES.map((state) =>
          isSatisfied(condition, { ...END, ...VARIANTS[variant], state }) ? 'Y' : '.',
        );
        expect(row.join('')).toBe(TABLE[condition][variant]);
      });
    }
  }
});
