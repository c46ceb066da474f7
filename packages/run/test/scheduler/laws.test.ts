import { batchesOfPlan, type Plan } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SchedulerOptions } from '../../src/scheduler/model/scheduler-options.ts';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { arbitraryPlan } from './arbitrary-plan.ts';
import { simulate } from './simulated-shell.ts';

const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 }).map(String);
const RUNS = Number(process.env.SLUICE_LAW_RUNS ?? 400);

/**
 * Steps are distributed over two clusters, and so are the cells of every third step, unless a run adds some; one of the
 * clusters has capacity for two containers, and a large step uses both.
 */
function createLimits(plan: Plan): NonNullable<SchedulerOptions['limits']> {
  const batches = batchesOfPlan(plan);
  const limits = plan.steps.map(({ index }) => [{ key: 'small', size: 2, amount: index % 5 === 0 ? 2 : 1 }]);
  return (step, cell) => {
    const isByCell = step % 3 === 0 && plan.steps[step]!.cells !== undefined && batches[step] === undefined;
    return (isByCell ? cell : step) % 2 === 1 ? limits[step]! : NONE;
  };
}

const NONE: readonly never[] = [];

describe('laws of the scheduler over random runs', () => {
  test('createScheduler: every run ends, within its limits and after its inputs', () => {
    fc.assert(
      fc.property(arbitraryPlan, seed, fc.constantFrom(0, 0.25, 0.6), (plan, seed, failures) => {
        simulate(plan, { seed, failures, limits: createLimits(plan) });
      }),
      { numRuns: RUNS },
    );
  });

  test('createScheduler: a user may cancel at any moment, once or twice', () => {
    fc.assert(
      fc.property(arbitraryPlan, seed, (plan, seed) => {
        const { scheduler } = simulate(plan, { seed, cancels: 0.03, looksUpAll: true });
        if (scheduler.isFinished) expect(scheduler.counts().waiting).toBe(0);
      }),
      { numRuns: RUNS },
    );
  });

  test('resume: after a crash anywhere, replay asks for exactly the open work and the run goes on', () => {
    fc.assert(
      fc.property(arbitraryPlan, seed, (plan, seed) => {
        simulate(plan, { seed, crashes: 0.15, cancels: 0.005, parallelism: 3 });
      }),
      { numRuns: RUNS },
    );
  });

  test('handle: the same events give the same commands, whatever happened between them', () => {
    fc.assert(
      fc.property(arbitraryPlan, seed, (plan, seed) => {
        const { events, commands, scheduler } = simulate(plan, { seed, cancels: 0.005 });
        const again = createScheduler(plan, { seed });
        for (const [i, event] of events.entries()) expect(again.handle(event)).toEqual(commands[i]);
        expect(again.counts()).toEqual(scheduler.counts());
      }),
      { numRuns: RUNS / 2 },
    );
  });
});
