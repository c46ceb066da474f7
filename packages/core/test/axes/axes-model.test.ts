import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  batchesOfPlan,
  bindListed,
  boundEdges,
  createPlan,
  listedSteps,
  matchedCells,
  matchOf,
} from '../../src/index.ts';
import { resolvePipeline } from '../../src/parse/resolve-pipeline.ts';
import { compareAxes, toPipeline } from './compare-axes.ts';
import { compareListedAxes, randomListedAxes } from './compare-listed-axes.ts';
import { findLayoutFault } from './find-layout-fault.ts';
import { randomAxes } from './random-axes.ts';

/** More with `pnpm soak`, or `SLUICE_AXES_RUNS`. A failure prints its seed and path, for the second argument of `fc.assert`. */
const RUNS = Number(process.env.SLUICE_AXES_RUNS ?? (process.env.SLUICE_SOAK === 'true' ? 20_000 : 3_000));

it('plans the cells of random axes, and matches them, as a naive evaluator of the rules does', () => {
  fc.assert(
    fc.property(randomAxes, (document) => {
      expect(compareAxes({ createPlan, matchOf, matchedCells }, document)).toBeUndefined();
    }),
    { numRuns: RUNS },
  );
});

it('gives each cell of random axes a place of its own, and directories exactly their cells', () => {
  fc.assert(
    fc.property(randomAxes, (document) => {
      const plan = createPlan(resolvePipeline(toPipeline(document)));
      expect(plan.ok ? findLayoutFault(plan.value) : undefined).toBeUndefined();
    }),
    { numRuns: RUNS },
  );
});

it('matches the cells of listed axes as those of an axis whose items imply the cells that list them', () => {
  fc.assert(
    fc.property(randomListedAxes, (given) => {
      expect(
        compareListedAxes(
          { createPlan, matchOf, matchedCells, batchesOfPlan, listedSteps, boundEdges, bindListed },
          given,
        ),
      ).toBeUndefined();
    }),
    { numRuns: RUNS / 10 },
  );
});
