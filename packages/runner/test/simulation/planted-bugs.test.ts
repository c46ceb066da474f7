import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { KEPT_SCENARIOS } from './kept-scenarios.ts';
import type { RunnerUnderTest } from './live-run.ts';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts';
import { runScenario } from './run-scenario.ts';
import { drawScenario, type Scenario } from './scenario.ts';

const PACKAGE = path.resolve(import.meta.dirname, '../..');
const COPIES = path.join(PACKAGE, '.cache', `planted-${process.pid}`);
/** A bug that needs more seeds than this would slip through. */
const MAX_SEEDS = 400;
/** What has not ended by then does not end: there is no need to wait for it three days, which take a minute of ours. */
const LONG_ENOUGH = { longestMs: 8 * 3_600_000 };

afterAll(() => rm(COPIES, { recursive: true, force: true }));

/** A copy of the runner with the bug in it. */
async function plant(bug: PlantedBug, number: number): Promise<RunnerUnderTest> {
  const copy = path.join(COPIES, String(number), 'src');
  await mkdir(copy, { recursive: true });
  const isSource = (file: string) => !file.endsWith('tsconfig.json');
  await cp(path.join(PACKAGE, 'src'), copy, { recursive: true, filter: isSource });
  const file = path.join(copy, bug.file);
  const text = await readFile(file, 'utf8');
  expect(text.split(bug.find), `${bug.file} has the place for the bug once`).toHaveLength(2);
  await writeFile(
    file,
    text.replace(bug.find, () => bug.replace),
  );
  const load = (name: string) => import(/* @vite-ignore */ path.join(copy, name));
  const [{ startRun }, { resumeRun }, { readRun }, { adoptRun }] = await Promise.all([
    load('run/start-run.ts'),
    load('run/resume-run.ts'),
    load('run/read-run.ts'),
    load('adopt/adopt-run.ts'),
  ]);
  return { startRun, resumeRun, readRun, adoptRun };
}

function* drawScenarios({ among = () => true }: PlantedBug): Generator<Scenario> {
  for (let seed = 0, tried = 0; tried < MAX_SEEDS; seed++) {
    const scenario = drawScenario(`seed-${seed}`);
    if (!among(scenario)) continue;
    tried++;
    yield scenario;
  }
}

describe('the simulation', () => {
  test.each(PLANTED_BUGS.map((bug, number) => ({ ...bug, number })))(
    'finds a runner that $name',
    { timeout: 120_000 },
    async (bug) => {
      const runner = await plant(bug, bug.number);
      let found: string | undefined;
      for (const scenario of bug.isRare ? KEPT_SCENARIOS.map((kept) => kept.scenario) : drawScenarios(bug)) {
        const { violations } = await runScenario(scenario, runner, bug.isRare ? LONG_ENOUGH : {});
        if (violations.length > 0) found = `${scenario.seed}: ${violations[0]}`;
        if (found !== undefined) break;
      }
      if (process.env.SLUICE_SHOW) console.log(`${bug.name}: ${found}`);
      expect(found).toBeDefined();
    },
  );
});
