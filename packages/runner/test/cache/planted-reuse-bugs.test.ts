import { afterAll, expect, test } from 'vitest';
import { plantBug, removePlants } from '../simulation/plant-bug.ts';
import { PLANTED_REUSE_BUGS } from './planted-reuse-bugs.ts';
import type { ReuseSubject } from './reuse-world.ts';
import { runReuseModel } from './run-reuse-model.ts';

/** Every tenth, or all of them with `pnpm soak`: this tests the reuse model, not the runner. */
const EVERY = process.env.SLUICE_SOAK === 'true' ? 1 : 10;
/** As many seeds as `pnpm soak` tries: a bug that needs more would not be found. */
const MAX_SEEDS = Number(process.env.SLUICE_REUSE_SEEDS ?? 300);

const MODULES = ['run/start-run.ts', 'run/resume-run.ts', 'cache/preview-reuse.ts'];

afterAll(removePlants);

test.each(PLANTED_REUSE_BUGS.map((bug, number) => ({ ...bug, number })).filter(({ number }) => number % EVERY === 0))(
  'the reuse model finds a runner that $name',
  { timeout: 600_000 },
  async (bug) => {
    const load = await plantBug(bug, `reuse-${bug.number}`);
    const subject = Object.assign({}, ...(await Promise.all(MODULES.map(load)))) as ReuseSubject;
    let found: string | undefined;
    for (let number = 0; number < MAX_SEEDS && found === undefined; number++) {
      // The seed that found it last comes first, and the others after it.
      const seed = `reuse-${(bug.seed + number) % MAX_SEEDS}`;
      // A run that cannot go on at all is a violation, too.
      const result = await runReuseModel(seed, subject).catch((error: Error) => error.message);
      const violation = typeof result === 'string' ? result : result.violations[0];
      if (violation !== undefined) found = `${seed}: ${violation}`;
    }
    if (process.env.SLUICE_SHOW) console.log(`${bug.name}: ${found}`);
    expect(found).toBeDefined();
  },
);
