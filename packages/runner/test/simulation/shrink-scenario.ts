import { OWN_DIALECT } from './dialect.ts';
import { CALM, type FaultRates } from './faults.ts';
import type { RunScript, Scenario } from './scenario.ts';
import type { StepScript } from './step-script.ts';

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
  for (let index = scenario.runs.length - 1; index >= 0; index--) {
    if (scenario.runs.length > 1) yield { ...scenario, runs: scenario.runs.filter((_, other) => other !== index) };
  }
  for (const [index, run] of scenario.runs.entries()) {
    for (const simpler of simplifyRun(run)) {
      yield { ...scenario, runs: scenario.runs.map((other, at) => (at === index ? simpler : other)) };
    }
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
  if (scenario.quota !== undefined) yield { ...scenario, quota: undefined };
}

function* simplifyRun(run: RunScript): Generator<RunScript> {
  for (let index = run.steps.length - 1; index >= 0; index--) {
    if (run.steps.length > 1 && run.steps[index]!.lists === undefined) yield withoutStep(run, index);
  }
  for (let index = 0; index < run.mishaps.length; index++) {
    yield { ...run, mishaps: run.mishaps.filter((_, other) => other !== index) };
  }
  if (run.cancelAfterMs !== undefined) yield { ...run, cancelAfterMs: undefined };
  if (run.parallelism !== undefined) yield { ...run, parallelism: undefined };
  if (run.startAfterMs) yield { ...run, startAfterMs: 0 };
  for (const [index, step] of run.steps.entries()) {
    for (const simpler of simplifyStep(step)) {
      yield { ...run, steps: run.steps.map((other, at) => (at === index ? simpler : other)) };
    }
  }
}

function* simplifyStep(step: StepScript): Generator<StepScript> {
  const { pools: _pools, ...withoutPools } = step;
  const { clusters: _clusters, ...onOneCluster } = step;
  if (step.attempts.length > 1) yield { ...step, attempts: step.attempts.slice(1) };
  if (step.cells > 1) yield { ...step, cells: 1 };
  if (step.foreach) yield { ...step, foreach: undefined };
  if (step.fails && step.fails.length > 0) yield { ...step, fails: [] };
  for (const [index, list] of (step.lists ?? []).entries()) {
    if (list.length === 0) continue;
    const shorter = list === 'broken' ? [] : list.slice(1);
    yield { ...step, lists: step.lists!.map((other, at) => (at === index ? shorter : other)) };
  }
  if (step.needs.length > 0) yield { ...step, needs: [] };
  if (step.inputs.length > 0) yield keepInputs(step, () => false);
  if (step.pools) yield withoutPools;
  if (step.clusters) yield onOneCluster;
  if (step.timeoutMs !== undefined && !step.attempts.includes('hang')) yield { ...step, timeoutMs: undefined };
}

function withoutStep(run: RunScript, index: number): RunScript {
  const { name } = run.steps[index]!;
  const steps = run.steps
    .filter((_, at) => at !== index)
    .map((step) => ({
      ...keepInputs(step, (other) => other !== name),
      needs: step.needs.filter((other) => other !== name),
    }));
  return { ...run, steps };
}

/** With some of its inputs only: it writes to no others, and spoils none if it has none to read. */
function keepInputs(step: StepScript, keeps: (input: string) => boolean): StepScript {
  const { writable = [], spoils, ...rest } = step;
  const inputs = step.inputs.filter(keeps);
  const kept = writable.filter(keeps);
  return {
    ...rest,
    inputs,
    ...(kept.length > 0 && { writable: kept }),
    ...(spoils && inputs.length > kept.length && { spoils }),
  };
}
