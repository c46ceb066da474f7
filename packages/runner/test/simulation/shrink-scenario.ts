import { OWN_DIALECT } from './dialect.ts';
import { CALM, type FaultRates } from './faults.ts';
import type { Scenario } from './scenario.ts';

/**
 * Makes a failing scenario smaller for as long as it still fails: fewer steps, mishaps and faults, a plainer dialect.
 * What is left is what it takes.
 */
export async function shrinkScenario(
  scenario: Scenario,
  fails: (smaller: Scenario) => Promise<boolean>,
): Promise<Scenario> {
  let smallest = scenario;
  for (let progress = true; progress; ) {
    progress = false;
    for (const smaller of simplify(smallest)) {
      if (!(await fails(smaller))) continue;
      smallest = smaller;
      progress = true;
      break;
    }
  }
  return smallest;
}

/** Every scenario that is one thing simpler; the boldest first. */
function* simplify(scenario: Scenario): Generator<Scenario> {
  for (let index = scenario.steps.length - 1; index >= 0; index--) {
    if (scenario.steps.length > 1) yield withoutStep(scenario, index);
  }
  for (let index = 0; index < scenario.mishaps.length; index++) {
    yield { ...scenario, mishaps: scenario.mishaps.filter((_, other) => other !== index) };
  }
  for (let index = 0; index < scenario.bursts.length; index++) {
    yield { ...scenario, bursts: scenario.bursts.filter((_, other) => other !== index) };
  }
  for (const name of Object.keys(CALM) as (keyof FaultRates)[]) {
    if (scenario.faults[name] > 0) yield { ...scenario, faults: { ...scenario.faults, [name]: 0 } };
  }
  for (const name of Object.keys(OWN_DIALECT) as (keyof typeof OWN_DIALECT)[]) {
    if (scenario.dialect[name] === OWN_DIALECT[name]) continue;
    yield { ...scenario, dialect: { ...scenario.dialect, [name]: OWN_DIALECT[name] } };
  }
  if (scenario.cancelAfterMs !== undefined) yield { ...scenario, cancelAfterMs: undefined };
  if (scenario.parallelism !== undefined) yield { ...scenario, parallelism: undefined };
  if (scenario.quota !== undefined) yield { ...scenario, quota: undefined };
  for (let index = 0; index < scenario.steps.length; index++) yield* simplifyStep(scenario, index);
}

function* simplifyStep(scenario: Scenario, index: number): Generator<Scenario> {
  const step = scenario.steps[index]!;
  const change = (more: Partial<typeof step>): Scenario => ({
    ...scenario,
    steps: scenario.steps.map((other, at) => (at === index ? { ...other, ...more } : other)),
  });
  if (step.attempts.length > 1) yield change({ attempts: step.attempts.slice(1) });
  if (step.cells > 1) yield change({ cells: 1 });
  if (step.needs.length > 0) yield change({ needs: [] });
  if (step.inputs.length > 0) yield change({ inputs: [] });
  if (step.timeoutMs !== undefined && !step.attempts.includes('hang')) yield change({ timeoutMs: undefined });
}

function withoutStep(scenario: Scenario, index: number): Scenario {
  const { name } = scenario.steps[index]!;
  const steps = scenario.steps
    .filter((_, at) => at !== index)
    .map((step) => ({
      ...step,
      needs: step.needs.filter((other) => other !== name),
      inputs: step.inputs.filter((other) => other !== name),
    }));
  return { ...scenario, steps };
}
