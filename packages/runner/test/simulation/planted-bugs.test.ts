import { afterAll, describe, expect, test } from 'vitest';
import { KEPT_SCENARIOS } from './kept-scenarios.ts';
import type { RunnerUnderTest } from './live-run.ts';
import { plantBug, removePlants } from './plant-bug.ts';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts';
import { PLANTED_INPUT_BUGS } from './planted-input-bugs.ts';
import { PLANTED_LIST_BUGS } from './planted-list-bugs.ts';
import { PLANTED_REPLY_BUGS } from './planted-reply-bugs.ts';
import { PLANTED_REQUEST_BUGS } from './planted-request-bugs.ts';
import { runScenario } from './run-scenario.ts';
import { drawScenario, type Scenario } from './scenario.ts';

/** Every tenth, or all of them with `pnpm soak`: this tests the simulation, not the runner. */
const EVERY = process.env.SLUICE_SOAK === 'true' ? 1 : 10;
const BUGS = [
  ...[...PLANTED_BUGS, ...PLANTED_INPUT_BUGS, ...PLANTED_LIST_BUGS],
  ...[...PLANTED_REPLY_BUGS, ...PLANTED_REQUEST_BUGS],
];
/** A bug that needs more seeds than this would slip through. */
const MAX_SEEDS = 400;
/** What has not ended by then does not end: there is no need to wait for it three days, which take a minute of ours. */
const LONG_ENOUGH = { longestMs: 8 * 3_600_000 };

afterAll(removePlants);

/** A copy of the runner with the bug in it. */
async function plant(bug: PlantedBug, number: number): Promise<RunnerUnderTest> {
  const load = await plantBug(bug, String(number));
  const modules = [
    ...['run/start-run.ts', 'run/resume-run.ts', '../../home/src/runs/read-run.ts', 'run/adopt-run.ts'],
    ...['run/approve-run.ts', 'run/suspend-run.ts', 'run/cancel-run.ts'],
    ...['run/create-run-files.ts', 'run/provision-order.ts'],
  ];
  const loaded = await Promise.all(modules.map(load));
  return Object.assign({}, ...loaded) as RunnerUnderTest;
}

/** Where a bug is looked for. */
function scenariosFor(bug: PlantedBug): Iterable<Scenario> {
  if (bug.within) return bug.within;
  return bug.isRare ? KEPT_SCENARIOS.map((kept) => kept.scenario) : drawScenarios(bug);
}

function* drawScenarios({ among = () => true, seed: last }: PlantedBug): Generator<Scenario> {
  if (last !== undefined) yield drawScenario(`seed-${last}`);
  for (let seed = 0, tried = 0; tried < MAX_SEEDS; seed++) {
    const scenario = drawScenario(`seed-${seed}`);
    if (!among(scenario)) continue;
    tried++;
    if (seed !== last) yield scenario;
  }
}

describe('the simulation', () => {
  test.each(BUGS.map((bug, number) => ({ ...bug, number })).filter(({ number }) => number % EVERY === 0))(
    'finds a runner that $name',
    { timeout: 600_000 },
    async (bug) => {
      const runner = await plant(bug, bug.number);
      let found: string | undefined;
      for (const scenario of scenariosFor(bug)) {
        const { violations } = await runScenario(scenario, runner, bug.isRare || bug.within ? LONG_ENOUGH : {});
        if (violations.length > 0) found = `${scenario.seed}: ${violations[0]}`;
        if (found !== undefined) break;
      }
      if (process.env.SLUICE_SHOW) console.log(`${bug.name}: ${found}`);
      expect(found).toBeDefined();
    },
  );
});
