import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { arbitraryPlan } from './arbitrary-plan.ts';
import { countPlaces, plantBug, removePlants } from './plant-bug.ts';
import { PLANTED_SCHEDULER_BUGS } from './planted-bugs.ts';
import { simulate } from './simulated-shell.ts';

/** Every tenth, or all of them with `pnpm soak`: this tests the laws, not the package. */
const EVERY = process.env.SLUICE_SOAK === 'true' ? 1 : 10;
/** More than the laws look at, because other plans would be drawn if the generator changed. */
const MAX_RUNS = 2_000;

afterAll(removePlants);

test('plantBug has one place in the source for each bug', async () => {
  const places = await Promise.all(PLANTED_SCHEDULER_BUGS.map(countPlaces));
  expect(places).toEqual(PLANTED_SCHEDULER_BUGS.map(() => 1));
});

test.each(
  PLANTED_SCHEDULER_BUGS.map((bug, number) => ({ ...bug, number })).filter(({ number }) => number % EVERY === 0),
)('the laws find a scheduler that $name', async (bug) => {
  const create = await plantBug(bug, bug.number);
  const found = fc.check(
    fc.property(arbitraryPlan, fc.nat(), (plan, seed) => {
      simulate(plan, { seed: String(seed), create });
    }),
    { numRuns: MAX_RUNS, seed: bug.seed ?? 1, endOnFailure: true },
  );
  if (process.env.SLUICE_SHOW) console.log(`${bug.name}: after ${found.numRuns} plans`);
  expect(found.failed).toBe(true);
});
