import { describe, expect, test } from 'vitest';
import { readRun } from '../../src/run/read-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { runScenario } from './run-scenario.ts';
import { drawScenario } from './scenario.ts';

const RUNNER = { startRun, resumeRun, readRun };
const SEEDS = Number(process.env.SLUICE_SEEDS ?? 200);
const FIRST = Number(process.env.SLUICE_FIRST_SEED ?? 0);

describe('the simulation', () => {
  test(`keeps every law for ${SEEDS} seeds`, { timeout: 300_000 }, async () => {
    const bad: string[] = [];
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const { violations } = await runScenario(drawScenario(`seed-${seed}`), RUNNER);
      if (violations.length > 0)
        bad.push(
          `seed ${seed} ${JSON.stringify(drawScenario(`seed-${seed}`).mishaps)}: ${violations.slice(0, 3).join(' | ')}`,
        );
    }
    expect(bad.slice(0, 20).join('\n')).toBe('');
  });

  test('gives the same trace for the same seed', async () => {
    for (let seed = 0; seed < 5; seed++) {
      const traces = [1, 2].map(() => runScenario(drawScenario(`seed-${seed}`), RUNNER));
      const [first, second] = [await traces[0]!, await traces[1]!];
      expect(second.trace, `seed ${seed}`).toBe(first.trace);
    }
  });
});
