import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { type AxesSubject, compareAxes } from './compare-axes.ts';
import { compareListedAxes, type ListedSubject, randomListedAxes } from './compare-listed-axes.ts';
import { countPlaces, plantAxesBug, removePlants } from './plant-axes-bug.ts';
import { PLANTED_AXES_BUGS, PLANTED_LISTED_BUGS } from './planted-axes-bugs.ts';
import { randomAxes } from './random-axes.ts';

/** Every tenth, or all of them with `pnpm soak`: this tests the model test, not the package. */
const EVERY = process.env.SLUICE_SOAK === 'true' ? 1 : 10;
/** A bug that needs more pipelines than the model test looks at by default would slip through. */
const MAX_RUNS = 3_000;

afterAll(removePlants);

const model = (subject: AxesSubject) =>
  fc.property(randomAxes, (document) => compareAxes(subject, document) === undefined);
const listedModel = (subject: ListedSubject) =>
  fc.property(randomListedAxes, (given) => compareListedAxes(subject, given) === undefined);

it('plantAxesBug has one place in the source for each bug', async () => {
  const bugs = [...PLANTED_AXES_BUGS, ...PLANTED_LISTED_BUGS];
  expect(await Promise.all(bugs.map(countPlaces))).toEqual(bugs.map(() => 1));
});

it.each(
  [
    ...PLANTED_AXES_BUGS.map((bug) => ({ ...bug, model, runs: MAX_RUNS })),
    ...PLANTED_LISTED_BUGS.map((bug) => ({ ...bug, model: listedModel, runs: MAX_RUNS / 10 })),
  ]
    .map((bug, number) => ({ ...bug, number }))
    .filter(({ number }) => number % EVERY === 0),
)('the model test finds a plan that $name', async (bug) => {
  const subject = await plantAxesBug(bug, bug.number);
  const found = fc.check<unknown[]>(bug.model(subject) as fc.IProperty<unknown[]>, {
    ...{ numRuns: bug.runs, seed: 1, endOnFailure: true },
  });
  if (process.env.SLUICE_SHOW) console.log(`${bug.name}: after ${found.numRuns} pipelines`);
  expect(found.failed).toBe(true);
});
