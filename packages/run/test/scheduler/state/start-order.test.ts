import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPlanIndex } from '../../../src/scheduler/state/plan-index.ts';
import { remainingPaths, startOrder } from '../../../src/scheduler/state/start-order.ts';
import { testPlan } from '../test-plan.ts';

describe('startOrder', () => {
  test('startOrder: priority, then path, then the order of the file', () => {
    const step = fc.record({ priority: fc.integer({ min: -3, max: 3 }), path: fc.integer({ min: 0, max: 2 ** 40 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (drafts) => {
        const plan = testPlan(Object.fromEntries(drafts.map(({ priority }, i) => [`s${i}`, { priority }])));
        const { position, stepAt } = startOrder(
          plan,
          Float64Array.from(drafts, ({ path }) => path),
        );
        const wanted = drafts.map((draft, i) => ({ ...draft, i }));
        wanted.sort((a, b) => b.priority - a.priority || b.path - a.path || a.i - b.i);
        expect([...stepAt]).toEqual(wanted.map(({ i }) => i));
        expect([...stepAt].map((step) => position[step])).toEqual(wanted.map((_, place) => place));
      }),
    );
  });

  test('startOrder: cells with a higher priority come before other steps, the others after', () => {
    const order = startOrder(
      testPlan({ a: { priority: 1 }, b: { each: ['x'], perCell: { priority: '${{ each.x }}' } }, c: { priority: 1 } }),
      Float64Array.of(1, 2, 3),
    );
    expect([...order.stepAt]).toEqual([1, 2, 1, 0, 1]);
    expect([...order.cellPlaces.get(1)!]).toEqual([4, 2, 0]);
  });

  test('startOrder: paths that are too long for exact keys are ordered coarsely, and every step keeps a place', () => {
    const plan = testPlan({ a: {}, b: {}, c: { priority: 1 } });
    const { stepAt } = startOrder(plan, Float64Array.of(2 ** 60, 2 ** 61, 1));
    expect([...stepAt]).toEqual([2, 1, 0]);
  });
});

describe('remainingPaths', () => {
  const plan = testPlan({ a: {}, b: { after: ['a'] }, c: { after: ['a'] }, d: { after: ['b', 'c'] }, e: {} });
  const paths = (durations?: (step: string) => number | undefined) => {
    const options = durations === undefined ? {} : { durations };
    return [...remainingPaths(plan, createPlanIndex(plan, options), options)];
  };

  test('remainingPaths: counts steps where nothing is known', () => {
    expect(paths()).toEqual([3, 2, 2, 1, 1]);
  });

  test('remainingPaths: adds up durations; an unknown step counts the mean of the known', () => {
    const known: Record<string, number> = { a: 10, b: 20, d: 60 };
    expect(paths((step) => known[step])).toEqual([100, 80, 90, 60, 30]);
    expect(paths(() => undefined)).toEqual([3, 2, 2, 1, 1]);
  });
});
