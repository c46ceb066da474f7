import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { arbitraryPlan } from './arbitrary-plan.ts';
import { simulate } from './simulated-shell.ts';

const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 }).map(String);
const RUNS = Number(process.env.SLUICE_LAW_RUNS ?? 400);

/** Steps are distributed over two clusters; one of them has capacity for two containers, and a large step uses both. */
const clusterOf = (step: number) => (step % 2 === 0 ? [] : [{ key: 'small', size: 2, amount: step % 5 === 0 ? 2 : 1 }]);

describe('laws of the scheduler over random runs', () => {
  test('createScheduler: every run ends, within its limits and after its inputs', () => {
    fc.assert(
      fc.property(arbitraryPlan, seed, fc.constantFrom(0, 0.25, 0.6), (plan, seed, failures) => {
        simulate(plan, { seed, failures, limits: clusterOf });
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
