import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { type AxesSubject, compareAxes } from './compare-axes.ts';
import { compareListedAxes, type ListedSubject, randomListedAxes } from './compare-listed-axes.ts';
import { plantAxesBug, removePlants } from './plant-axes-bug.ts';
import { PLANTED_AXES_BUGS, PLANTED_LISTED_BUGS } from './planted-axes-bugs.ts';
import { randomAxes } from './random-axes.ts';

/** Only with `CI=true`: this tests the model test, not the package. */
const isThorough = process.env.CI === 'true';
/** A bug that needs more pipelines than the model test looks at by default would slip through. */
const MAX_RUNS = 3_000;

afterAll(removePlants);

const model = (subject: AxesSubject) =>
  fc.property(randomAxes, (document) => compareAxes(subject, document) === undefined);
const listedModel = (subject: ListedSubject) =>
  fc.property(randomListedAxes, (given) => compareListedAxes(subject, given) === undefined);

it
  .runIf(isThorough)
  .each(
    [
      ...PLANTED_AXES_BUGS.map((bug) => ({ ...bug, model, runs: MAX_RUNS })),
      ...PLANTED_LISTED_BUGS.map((bug) => ({ ...bug, model: listedModel, runs: MAX_RUNS / 10 })),
    ].map((bug, number) => ({ ...bug, number })),
  )('the model test finds a plan that $name', async (bug) => {
  const subject = await plantAxesBug(bug, bug.number);
  const found = fc.check<unknown[]>(bug.model(subject) as fc.IProperty<unknown[]>, {
    ...{ numRuns: bug.runs, seed: 1, endOnFailure: true },
  });
  if (process.env.SLUICE_SHOW) console.log(`${bug.name}: after ${found.numRuns} pipelines`);
  expect(found.failed).toBe(true);
});
