import type { Plan, Step } from '@sluice/core';
import { type Dialect, drawDialect } from './dialect.ts';
import { type Burst, drawBursts, drawFaultRates, type FaultRates } from './faults.ts';
import { createHandPlan, createStep } from './plans.ts';
import { createRandom, type Random } from './random.ts';

/** What a step's containers do, attempt by attempt; the last entry holds for all later ones. */
export interface StepScript {
  readonly name: string;
  readonly needs: readonly string[];
  /** Steps whose output it mounts. */
  readonly inputs: readonly string[];
  readonly hasOutput: boolean;
  /** Cells of a matrix; 1 is a plain step. */
  readonly cells: number;
  readonly retries: number;
  readonly timeoutMs: number | undefined;
  readonly continueOnError: boolean;
  /** `hang`: runs until it is canceled. */
  readonly attempts: readonly ('succeed' | 'fail' | 'oom' | 'break' | 'vanish' | 'replaced' | 'hang')[];
  readonly runMs: number;
}

/** Something that happens to the runner. */
export type Mishap =
  /** The process dies at its n-th operation; with `machine`, what was not synced is lost. */
  | { readonly kind: 'crash'; readonly operation: number; readonly before: boolean; readonly machine: boolean }
  | { readonly kind: 'detach'; readonly afterMs: number }
  | { readonly kind: 'diskFull'; readonly operation: number }
  | { readonly kind: 'syncFailure'; readonly operation: number }
  /** A second runner takes the run while the first one lives. */
  | { readonly kind: 'second'; readonly afterMs: number }
  | { readonly kind: 'clockJump'; readonly afterMs: number; readonly ms: number };

/** One simulated run, wholly: plain data, so that a failing one can be shrunk and kept. */
export interface Scenario {
  readonly seed: string;
  readonly steps: readonly StepScript[];
  readonly parallelism: number | undefined;
  readonly failFast: boolean;
  readonly dialect: Dialect;
  readonly faults: FaultRates;
  readonly bursts: readonly Burst[];
  /** One for each life of the runner, in order; the life after the last is undisturbed. */
  readonly mishaps: readonly Mishap[];
  /** A person cancels the run so long after its start. */
  readonly cancelAfterMs: number | undefined;
  readonly hints: boolean;
  readonly quota: number | undefined;
}

export function drawScenario(seed: string): Scenario {
  const random = createRandom(seed);
  const steps: StepScript[] = [];
  const count = 1 + random.below(7);
  for (let index = 0; index < count; index++) steps.push(drawStep(random, steps));
  const mishaps = Array.from({ length: random.below(4) }, () => drawMishap(random));
  return {
    seed,
    steps,
    parallelism: random.chance(0.4) ? 1 + random.below(3) : undefined,
    failFast: random.chance(0.6),
    dialect: drawDialect(random.fork('dialect')),
    faults: drawFaultRates(random.fork('faults')),
    bursts: drawBursts(random.fork('bursts')),
    mishaps,
    cancelAfterMs: random.chance(0.15) ? random.below(60_000) : undefined,
    hints: random.chance(0.5),
    quota: random.chance(0.2) ? 1 + random.below(3) : undefined,
  };
}

function drawStep(random: Random, earlier: readonly StepScript[]): StepScript {
  const needs = earlier.filter(() => random.chance(0.25)).map(({ name }) => name);
  const inputs = earlier.filter(({ hasOutput }) => hasOutput && random.chance(0.4)).map(({ name }) => name);
  const endings = ['succeed', 'succeed', 'succeed', 'succeed', 'fail', 'oom', 'break', 'vanish', 'replaced'] as const;
  const timeoutMs = random.fork(`timeout ${earlier.length}`).chance(0.15) ? 30_000 : undefined;
  // What hangs must have a timeout, or nothing would ever end it.
  const hangs = timeoutMs !== undefined && random.fork(`hang ${earlier.length}`).chance(0.5);
  return {
    name: `s${earlier.length}`,
    needs,
    inputs,
    hasOutput: random.chance(0.6),
    cells: random.chance(0.25) ? 2 + random.below(3) : 1,
    retries: random.below(3),
    timeoutMs,
    continueOnError: random.chance(0.1),
    attempts: [
      ...(hangs ? (['hang'] as const) : []),
      ...Array.from({ length: random.below(3) }, () => random.pick(endings)),
      'succeed',
    ],
    runMs: random.pick([0, 50, 2000, 20_000, 120_000]),
  };
}

function drawMishap(random: Random): Mishap {
  const operation = 8 + random.below(60);
  const afterMs = random.below(60_000);
  switch (random.below(9)) {
    case 0:
      return { kind: 'detach', afterMs };
    case 1:
      return { kind: 'diskFull', operation };
    case 2:
      return { kind: 'syncFailure', operation };
    case 3:
      return { kind: 'second', afterMs };
    case 4:
      return { kind: 'clockJump', afterMs, ms: random.pick([-7_200_000, -60_000, 60_000, 7_200_000]) };
    default:
      return { kind: 'crash', operation, before: random.chance(0.5), machine: random.chance(0.5) };
  }
}

/** The plan of a scenario. */
export function planScenario(scenario: Scenario): Plan {
  const steps = scenario.steps.map((script): Step => {
    const base = createStep(script.name);
    return {
      ...base,
      needs: script.needs.map((step) => ({ step, condition: 'succeeded' as const })),
      inputs: Object.fromEntries(
        script.inputs.map((step) => [step, { from: { step, output: 'out' }, path: `/in/${step}` }]),
      ),
      outputs: script.hasOutput ? { out: { path: '/out', retain: true } } : {},
      ...(script.cells > 1 && {
        matrix: { axes: { n: Array.from({ length: script.cells }, (_, n) => n) }, include: [], exclude: [] },
      }),
      ...(script.timeoutMs !== undefined && { timeoutMs: script.timeoutMs }),
      continueOnError: script.continueOnError,
      retry: { ...base.retry, limit: script.retries, on: ['failed', 'oom', 'timeout', 'infrastructure'] },
    };
  });
  return createHandPlan(steps, {
    name: 'simulated',
    failFast: scenario.failFast,
    ...(scenario.parallelism !== undefined && { parallelism: scenario.parallelism }),
  });
}
