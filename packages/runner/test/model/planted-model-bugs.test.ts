import { afterAll, expect, test } from 'vitest';
import { plantBug, removePlants } from '../simulation/plant-bug.ts';
import { PLANTED_MODEL_BUGS } from './planted-model-bugs.ts';
import { type ModelSubject, runModel } from './run-model.ts';

/** Every tenth, or all of them with `pnpm soak`: this tests the model test, not the runner. */
const EVERY = process.env.SLUICE_SOAK === 'true' ? 1 : 10;
/** A bug that needs more seeds than `pnpm soak` looks at would slip through. */
const MAX_SEEDS = Number(process.env.SLUICE_MODEL_SEEDS ?? 100);

const MODULES = ['run/start-run.ts', 'run/resume-run.ts', 'data/pull-output.ts', 'gc/collect-garbage.ts'];

afterAll(removePlants);

test.each(PLANTED_MODEL_BUGS.map((bug, number) => ({ ...bug, number })).filter(({ number }) => number % EVERY === 0))(
  'the model test finds a runner that $name',
  { timeout: 600_000 },
  async (bug) => {
    const load = await plantBug(bug, `model-${bug.number}`);
    const subject = Object.assign({}, ...(await Promise.all(MODULES.map(load)))) as ModelSubject;
    let found: string | undefined;
    for (let number = 0; number < MAX_SEEDS && found === undefined; number++) {
      // A run that cannot go on at all is a difference, too.
      // The seed that found it last comes first, and the others after it.
      const seed = `model-${(bug.seed + number) % MAX_SEEDS}`;
      const result = await runModel(seed, subject).catch((error: Error) => error.message);
      const difference = typeof result === 'string' ? result : result.differences[0];
      if (difference !== undefined) found = `${seed}: ${difference}`;
    }
    if (process.env.SLUICE_SHOW) console.log(`${bug.name}: ${found}`);
    expect(found).toBeDefined();
  },
);
