import { describe, expect, test } from 'vitest';
import { OWN_DIALECT } from './dialect.ts';
import { DIALECT_SCENARIOS } from './dialect-scenarios.ts';
import { CALM } from './faults.ts';
import { KEPT_SCENARIOS } from './kept-scenarios.ts';
import { REAL_RUNNER as RUNNER } from './real-runner.ts';
import { runScenario } from './run-scenario.ts';
import { drawScenario, type Scenario } from './scenario.ts';
import { shrinkScenario } from './shrink-scenario.ts';
import type { StepScript } from './step-script.ts';

const SEEDS = Number(process.env.SLUICE_SEEDS ?? (process.env.SLUICE_SOAK === 'true' ? 2000 : 100));
const FIRST_SEED = Number(process.env.SLUICE_FIRST_SEED ?? 0);
/** Enough to see a pattern; the rest of the seeds would only take time. */
const MAX_BAD = 3;

/** Ends what hangs: on a busy machine the seeds of `pnpm soak` take many minutes. */
const HOUR = 3_600_000;
/** A run that never ends is simulated for three days, which takes a minute; half a day is enough to shrink it. */
const SHRINKING = { longestMs: 12 * HOUR };
const SHRINK_WITHIN_MS = 90_000;

const violationsOf = async (scenario: Scenario, options?: { longestMs: number }) =>
  (await runScenario(scenario, RUNNER, options)).violations;

/** What to print of a scenario that failed: the seed, what went wrong, and the smallest scenario that was found to do so. */
async function describeBad(scenario: Scenario, violations: readonly string[]): Promise<string> {
  const until = performance.now() + SHRINK_WITHIN_MS;
  const fails = async (smaller: Scenario) =>
    performance.now() < until && (await violationsOf(smaller, SHRINKING)).length > 0;
  const smallest = await shrinkScenario(scenario, fails);
  return `${scenario.seed}: ${violations.slice(0, 3).join('\n  ')}\n  ${JSON.stringify(smallest)}`;
}

describe('the simulation', () => {
  test(`keeps every law for ${SEEDS} seeds from ${FIRST_SEED}`, { timeout: HOUR }, async () => {
    const bad: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS && bad.length < MAX_BAD; seed++) {
      const scenario = drawScenario(`seed-${seed}`);
      const violations = await violationsOf(scenario);
      if (violations.length === 0) continue;
      // At once: the rest of the seeds takes minutes.
      console.error(`${scenario.seed}: ${violations[0]}`);
      bad.push(await describeBad(scenario, violations));
    }
    expect(bad.join('\n')).toBe('');
  });

  test('keeps every law for the seeds that failed once', async () => {
    for (const { scenario, found } of KEPT_SCENARIOS) {
      expect(await violationsOf(scenario), `${scenario.seed}: ${found}`).toEqual([]);
    }
  });

  test.each(DIALECT_SCENARIOS)('keeps every law in the world: $seed', async (scenario) => {
    expect(await violationsOf(scenario, { longestMs: 12 * HOUR })).toEqual([]);
  });

  test('gives the same trace for the same seed', async () => {
    for (let seed = 0; seed < 5; seed++) {
      const first = await runScenario(drawScenario(`seed-${seed}`), RUNNER);
      const second = await runScenario(drawScenario(`seed-${seed}`), RUNNER);
      expect(second.trace, `seed ${seed}`).toBe(first.trace);
    }
  });
});

describe('resumeRun', () => {
  const step = (name: string, more: Partial<StepScript> = {}): StepScript => ({
    name,
    needs: [],
    inputs: [],
    hasOutput: true,
    cells: 1,
    retries: 1,
    continueOnError: false,
    attempts: ['succeed'],
    runMs: 1000,
    ...more,
  });
  const calm: Scenario = {
    seed: 'boundaries',
    runs: [
      {
        steps: [
          step('a', { attempts: ['fail', 'succeed'] }),
          step('b', { inputs: ['a'], cells: 2 }),
          step('c', { inputs: ['b'] }),
        ],
        failFast: true,
        mishaps: [],
      },
    ],
    pools: {},
    dialect: OWN_DIALECT,
    faults: CALM,
    bursts: [],
    hints: true,
  };

  test.each([
    { before: true, machine: false },
    { before: false, machine: false },
    { before: true, machine: true },
    { before: false, machine: true },
  ])('goes on after a crash at every operation (before it: $before, of the machine: $machine)', async (kind) => {
    for (let operation = 1; operation <= 160; operation++) {
      const mishaps = [{ kind: 'crash', operation, ...kind } as const];
      const { violations, reports } = await runScenario({ ...calm, runs: [{ ...calm.runs[0]!, mishaps }] }, RUNNER);
      expect(violations, `operation ${operation}`).toEqual([]);
      expect(reports[0]?.status, `operation ${operation}`).toBe('succeeded');
    }
  });

  test('goes on after a crash or a failed sync at every operation of an adoption', async () => {
    const lost = { kind: 'lose', operation: 60, before: false, whole: true } as const;
    for (let operation = 1; operation <= 40; operation++) {
      for (const mishap of [
        { kind: 'crash', operation, before: true, machine: true } as const,
        { kind: 'syncFailure', operation } as const,
      ]) {
        const runs = [{ ...calm.runs[0]!, mishaps: [lost, mishap] }];
        const { violations, reports } = await runScenario({ ...calm, runs }, RUNNER);
        expect(violations, `${mishap.kind} at operation ${operation}`).toEqual([]);
        expect(reports[0]?.status, `${mishap.kind} at operation ${operation}`).toBe('succeeded');
      }
    }
  });
});
