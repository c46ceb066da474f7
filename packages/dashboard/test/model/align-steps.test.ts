import type { RunDetails } from '@sluice/host';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alignSteps, countDifferent } from '../../src/model/align-steps.ts';
import { orderSteps } from '../../src/model/order-steps.ts';
import { codeOf } from '../../src/model/statuses.ts';

type PlanSteps = RunDetails['plan']['steps'];

/** Steps with these names, each with its column in the graph. */
function plan(...steps: readonly (readonly [name: string, level: number])[]): PlanSteps {
  return steps.map(([step, level]) => ({ step, kind: 'container', dependencies: [], level, final: false, cells: 1 }));
}

const PLANS = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...'abcdefghij'), fc.nat(3)), { selector: ([name]) => name })
  .map((steps) => plan(...steps));

test('alignSteps puts a step that only the second run has after the step that it follows there', () => {
  const first = plan(['fit', 1], ['prepare', 0], ['old', 2]);
  const second = plan(['setup', 0], ['prepare', 1], ['check', 2], ['fit', 3], ['report', 4]);
  expect(alignSteps(first, second)).toEqual([
    { name: 'setup', places: [undefined, 0] },
    { name: 'prepare', places: [1, 1] },
    { name: 'check', places: [undefined, 2] },
    { name: 'fit', places: [0, 3] },
    { name: 'report', places: [undefined, 4] },
    { name: 'old', places: [2, undefined] },
  ]);
});

test('alignSteps has each step of both runs once, in rows of its name, after the step that it follows', () => {
  fc.assert(
    fc.property(PLANS, PLANS, (first, second) => {
      const rows = alignSteps(first, second);
      const placesIn = (run: 0 | 1) => rows.flatMap(({ places }) => places[run] ?? []);
      expect(placesIn(0)).toEqual(orderSteps(first));
      expect(placesIn(1).sort((a, b) => a - b)).toEqual([...second.keys()]);
      for (const { name, places } of rows)
        [first, second].forEach((steps, run) => {
          const place = places[run];
          expect(place === undefined ? -1 : place).toBe(steps.findIndex(({ step }) => step === name));
        });
      const order = orderSteps(second);
      rows.forEach(({ places: [inFirst, inSecond] }, index) => {
        if (inFirst === undefined) expect(rows[index - 1]?.places[1]).toBe(order[order.indexOf(inSecond!) - 1]);
      });
    }),
  );
});

test('alignSteps of one plan with itself has the order of its timeline', () => {
  fc.assert(
    fc.property(PLANS, (steps) => {
      expect(alignSteps(steps, steps).map(({ places }) => places)).toEqual(orderSteps(steps).map((at) => [at, at]));
    }),
  );
});

test('countDifferent counts the rows with different states, and those that one run does not have', () => {
  const rows = alignSteps(plan(['a', 0], ['b', 1], ['c', 2]), plan(['b', 0], ['c', 1]));
  const [good, bad] = [codeOf('succeeded'), codeOf('failed')];
  expect(countDifferent(rows, Uint8Array.of(good, good, bad), Uint8Array.of(good, good))).toBe(2);
});
