import { describe, expect, test } from 'vitest';
import { REAL_RUNNER } from './real-runner.ts';
import { createCrashesAfterRequest, drawRequestScenario, drawServerScenario } from './request-scenarios.ts';
import { runScenario } from './run-scenario.ts';

const SEEDS = Number(process.env.SLUICE_REQUEST_SEEDS ?? (process.env.SLUICE_SOAK === 'true' ? 150 : 20));
const FIRST_SEED = Number(process.env.SLUICE_FIRST_SEED ?? 0);
/** After so many violations, the remaining seeds are not tried. */
const MAX_BAD = 3;
/** Ends a test that hangs: on a busy machine, the seeds of CI take many minutes. */
const HOUR = 3_600_000;

describe('the simulation', () => {
  test.each([
    { what: 'requests of users', name: 'request', draw: drawRequestScenario },
    { what: 'runs that replace others on a server', name: 'server', draw: drawServerScenario },
  ])(`keeps every law for ${SEEDS} seeds from ${FIRST_SEED} with $what`, { timeout: HOUR }, async ({ name, draw }) => {
    const bad: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS && bad.length < MAX_BAD; seed++) {
      const { violations } = await runScenario(draw(`${name}-${seed}`), REAL_RUNNER);
      if (violations.length > 0) bad.push(`${name}-${seed}: ${violations.slice(0, 3).join('\n  ')}`);
    }
    expect(bad.join('\n')).toBe('');
  });

  test('keeps every law when the process dies at any operation after a request', async () => {
    for (const scenario of createCrashesAfterRequest(60)) {
      const { violations } = await runScenario(scenario, REAL_RUNNER);
      expect(violations, scenario.seed).toEqual([]);
    }
  });
});
