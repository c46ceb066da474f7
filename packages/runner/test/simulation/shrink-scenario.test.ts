import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../run/test/random.ts';
import { REAL_RUNNER as RUNNER } from './real-runner.ts';
import { runScenario } from './run-scenario.ts';
import { drawScenario, planRun, type Scenario } from './scenario.ts';
import { shrinkScenario } from './shrink-scenario.ts';

/** The faults of a scenario: none may have one, whether drawn or shrunk. */
function findFaults(scenario: Scenario): string[] {
  return scenario.runs.flatMap((run) => {
    const decided = planRun(run, scenario, { isDecided: true });
    return run.steps.flatMap(({ name, needs, inputs, writable = [], spoils, foreach }, index) => {
      const earlier = run.steps.slice(0, index);
      const keys = decided.steps[index]?.cells?.map(({ key }) => key) ?? [];
      return [
        ...needs.filter((other) => !earlier.some((step) => step.name === other)).map((other) => `needs ${other}`),
        ...inputs
          .filter((other) => !earlier.some((step) => step.name === other && step.hasOutput))
          .map((other) => `reads ${other}`),
        ...writable.filter((other) => !inputs.includes(other)).map((other) => `writes to ${other}`),
        ...(spoils && inputs.length === writable.length ? ['spoils nothing'] : []),
        ...(foreach === 'list' && keys.includes('') ? ['has a cell without the key of its item'] : []),
      ].map((fault) => `${scenario.seed}: ${name} ${fault}`);
    });
  });
}

describe('shrinkScenario', () => {
  test('makes only scenarios that could have been drawn', async () => {
    const faults = new Set<string>();
    for (let seed = 0; seed < 400; seed++) {
      const random = createRandom(`shrink ${seed}`);
      const scenario = drawScenario(`seed-${seed}`);
      expect(findFaults(scenario)).toEqual([]);
      await shrinkScenario(scenario, async (smaller) => {
        for (const fault of findFaults(smaller)) faults.add(fault);
        return random.chance(0.5);
      });
    }
    expect([...faults]).toEqual([]);
  });

  test('leaves a foreach of one item that keeps every law', async () => {
    const drawn = Array.from({ length: 400 }, (_, seed) => drawScenario(`seed-${seed}`));
    const listed = drawn.filter(({ runs }) =>
      runs.some(({ steps }) => steps.some(({ foreach }) => foreach === 'list')),
    );
    expect(listed.length).toBeGreaterThan(0);
    for (const scenario of listed.slice(0, 10)) {
      const single = await shrinkScenario(scenario, async ({ runs }) =>
        runs.some(({ steps }) => steps.some(({ foreach, retries }) => foreach === 'list' && retries > 0)),
      );
      const failing = single.runs.map((run) => ({
        ...run,
        steps: run.steps.map((step) => ({ ...step, attempts: ['fail', 'succeed'] as const })),
      }));
      expect((await runScenario({ ...single, runs: failing }, RUNNER)).violations, single.seed).toEqual([]);
    }
  });
});
