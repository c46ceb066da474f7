import type { Plan, Step } from '@sluice/core';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { createRandom, type Random } from '../../../run/test/random.ts';
import { type Dialect, drawDialect } from './dialect.ts';
import { type Burst, drawBursts, drawFaultRates, type FaultRates } from './faults.ts';
import { addLists, addParts, describeAxes, findLister, planAxes } from './listed-parts.ts';
import type { PersonRequest } from './person-request.ts';
import type { StepScript } from './step-script.ts';

/** Something that happens to the runner. */
export type Mishap =
  /** The process dies at its n-th operation; with `machine`, what was not synced is lost, and all others die with it. */
  | { readonly kind: 'crash'; readonly operation: number; readonly before: boolean; readonly machine: boolean }
  /** It dies, and its run is taken up only when the other runs are over. */
  | { readonly kind: 'leave'; readonly operation: number; readonly before: boolean }
  /** It dies and its journal is lost: with `whole`, everything that the home has of the run. */
  | { readonly kind: 'lose'; readonly operation: number; readonly before: boolean; readonly whole: boolean }
  /** It dies as it sends a create, and the end of its journal, the intent of that create, is lost from the disk. */
  | { readonly kind: 'tear'; readonly operation: number }
  | { readonly kind: 'suspend'; readonly afterMs: number }
  | { readonly kind: 'diskFull'; readonly operation: number }
  | { readonly kind: 'syncFailure'; readonly operation: number }
  /** A second runner takes the run while the first one lives. */
  | { readonly kind: 'second'; readonly afterMs: number }
  | { readonly kind: 'clockJump'; readonly afterMs: number; readonly ms: number };

/** One run of a scenario. */
export interface RunScript {
  readonly steps: readonly StepScript[];
  readonly parallelism?: number | undefined;
  readonly failFast: boolean;
  /** One for each life of the runner, in order; the life after the last is undisturbed. */
  readonly mishaps: readonly Mishap[];
  /** A person cancels the run so long after the beginning. */
  readonly cancelAfterMs?: number | undefined;
  readonly startAfterMs?: number;
  readonly requests?: readonly PersonRequest[];
}

/** One simulated world, wholly: plain data, so that a failing one can be shrunk and kept. */
export interface Scenario {
  readonly seed: string;
  /** All of one home. */
  readonly runs: readonly RunScript[];
  /** Tokens by pool, which the runs share. */
  readonly pools: Readonly<Record<string, number>>;
  /** The concurrency group that all the runs belong to. */
  readonly group?: { readonly limit: number; readonly overlap: 'queue' | 'replace' } | undefined;
  readonly dialect: Dialect;
  readonly faults: FaultRates;
  readonly bursts: readonly Burst[];
  readonly hints: boolean;
  readonly quota?: number | undefined;
  /** The service cannot mount read-only, so that inputs are compared. */
  readonly comparesInputs?: boolean;
  /** After its only run, another one takes from the cache what that one has left, in peace. */
  readonly isRunAgain?: boolean;
  /** What the report of each run must hold one warning of, for each of these texts. */
  readonly warns?: readonly string[];
  /** Its runs are handed over by their owners. */
  readonly isServer?: boolean;
  /** A run whose journal is lost is resumed in vain before it is adopted. */
  readonly resumesLost?: boolean;
}

/** The run's own cluster, and one that shares nothing with it. */
export const HOME_CLUSTER = 'sim';
export const FAR_CLUSTER = 'far';

export function drawScenario(seed: string): Scenario {
  const random = createRandom(seed);
  const kinds = random.fork('kinds');
  const hasPools = kinds.chance(0.15);
  const world = {
    pools: hasPools ? { a: 1 + kinds.below(3), b: 1 + kinds.below(2) } : {},
    isTwoClusters: kinds.chance(0.2),
    losesJournals: kinds.chance(0.15),
    comparesInputs: random.fork('inputs').chance(0.3),
    decidesLists: random.fork('each').chance(0.12),
  };
  const grouped = random.fork('group');
  const isGrouped = !hasPools && !world.losesJournals && grouped.chance(0.15);
  const count = hasPools ? 2 + kinds.below(2) : isGrouped ? 2 + grouped.below(2) : 1;
  // Without a list of the service, what was started for the items of a lost list cannot be found.
  const dialect = drawDialect(random.fork('dialect'));
  const hasLists =
    count === 1 && random.fork('lists').chance(0.15) && (!world.losesJournals || dialect.list === 'works');
  const isRunAgain = count === 1 && world.comparesInputs && !world.losesJournals && random.fork('again').chance(0.5);
  return {
    seed,
    ...(isRunAgain && { isRunAgain }),
    ...(world.losesJournals && random.fork('resumes').chance(0.5) && { resumesLost: true }),
    group: isGrouped ? { limit: 1, overlap: grouped.pick(['queue', 'queue', 'replace'] as const) } : undefined,
    runs: Array.from({ length: count }, (_, index) =>
      drawRun(index === 0 ? random : random.fork(`run ${index}`), { ...world, isAlone: count === 1, hasLists }),
    ),
    pools: world.pools,
    dialect: {
      ...dialect,
      // Without labels, nothing tells an adoption whose containers there are.
      ...(world.losesJournals && { hidesLabels: false }),
    },
    faults: drawFaultRates(random.fork('faults')),
    bursts: drawBursts(random.fork('bursts')),
    hints: random.chance(0.5),
    quota: random.chance(0.2) ? 1 + random.below(3) : undefined,
    comparesInputs: world.comparesInputs,
  };
}

/** What the runs of a scenario have in common. */
interface Traits {
  readonly pools: Readonly<Record<string, number>>;
  readonly isTwoClusters: boolean;
  readonly isAlone: boolean;
  readonly losesJournals: boolean;
  readonly comparesInputs: boolean;
  readonly decidesLists: boolean;
  readonly hasLists: boolean;
}

function drawRun(random: Random, world: Traits): RunScript {
  const { isAlone } = world;
  const steps: StepScript[] = [];
  const count = 1 + random.below(isAlone ? 7 : 3);
  for (let index = 0; index < count; index++) steps.push(drawStep(random, { earlier: steps, world }));
  const drawn = Array.from({ length: random.below(4) }, () => drawMishap(random));
  // Two runners of one run at once are for a world without working locks, which groups need.
  const mishaps = drawn.filter(({ kind }) => isAlone || Object.keys(world.pools).length > 0 || kind !== 'second');
  const late = random.fork('late');
  const torn = random.fork('torn');
  // Other runs go by the journal alone (decision 0028).
  if (isAlone && !world.losesJournals && torn.chance(0.15)) {
    mishaps.splice(torn.below(mishaps.length + 1), 0, { kind: 'tear', operation: 8 + torn.below(60) });
  }
  // What is canceled before its turn comes is not asked for.
  const isTorn = mishaps.some(({ kind }) => kind === 'tear');
  if (!isAlone && late.chance(0.3)) mishaps.push({ kind: 'leave', ...drawMoment(late) });
  if (world.losesJournals) {
    mishaps.splice(late.below(mishaps.length + 1), 0, { kind: 'lose', ...drawMoment(late), whole: late.chance(0.5) });
  }
  return {
    // A run that is repeated must succeed then.
    steps: world.hasLists ? addLists(steps, { random: random.fork('parts'), mayFail: !world.comparesInputs }) : steps,
    parallelism: random.chance(0.4) ? 1 + random.below(3) : undefined,
    failFast: random.chance(0.6) && !isTorn,
    mishaps,
    cancelAfterMs: random.chance(0.15) && !isTorn ? random.below(60_000) : undefined,
    startAfterMs: isAlone ? 0 : late.pick([0, 0, 1000, 30_000]),
  };
}

function drawStep(
  random: Random,
  { earlier, world }: { readonly earlier: readonly StepScript[]; readonly world: Traits },
): StepScript {
  const needs = earlier.filter(() => random.chance(0.25)).map(({ name }) => name);
  const inputs = earlier.filter(({ hasOutput }) => hasOutput && random.chance(0.4)).map(({ name }) => name);
  const endings = ['succeed', 'succeed', 'succeed', 'succeed', 'fail', 'oom', 'break', 'vanish', 'replaced'] as const;
  const timeoutMs = random.fork(`timeout ${earlier.length}`).chance(0.15) ? 30_000 : undefined;
  // What hangs must have a timeout, or nothing would ever end it.
  const hangs = timeoutMs !== undefined && random.fork(`hang ${earlier.length}`).chance(0.5);
  const place = random.fork(`place ${earlier.length}`);
  const wanted = Object.entries(world.pools).map(([pool, size]) => [pool, place.below(size + 1)] as const);
  const orders = [undefined, [HOME_CLUSTER, FAR_CLUSTER], [FAR_CLUSTER, HOME_CLUSTER], [FAR_CLUSTER]] as const;
  const clusters = world.isTwoClusters ? place.pick(orders) : undefined;
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
      ...(world.isTwoClusters && place.chance(0.3) ? (['break'] as const) : []),
      ...Array.from({ length: random.below(3) }, () => random.pick(endings)),
      'succeed',
    ],
    runMs: random.pick([0, 50, 2000, 20_000, 120_000]),
    ...(random.fork(`queue ${earlier.length}`).chance(0.05) && { pendingMs: 120_000 }),
    ...(wanted.length > 0 && { pools: Object.fromEntries(wanted) }),
    ...(clusters && { clusters }),
    ...drawWrites(random.fork(`writes ${earlier.length}`), inputs, world),
    ...drawForeach(random.fork(`foreach ${earlier.length}`), world),
    ...drawTolerance(random.fork(`tolerance ${earlier.length}`)),
  };
}

/** If a journal is lost, the cells are only known from containers. A run that is repeated must succeed then. */
function drawForeach(random: Random, world: Traits): Pick<StepScript, 'foreach'> | { cells: number; foreach: 'list' } {
  if (!world.decidesLists || world.losesJournals) return {};
  if (random.chance(0.5)) return { cells: 2 + random.below(3), foreach: 'list' };
  return !world.comparesInputs && random.chance(0.2) ? { foreach: 'broken' } : {};
}

/** Of a step with one cell, a percentage tolerates none. */
function drawTolerance(random: Random): Pick<StepScript, 'continueOnError'> | undefined {
  return random.chance(0.1) ? { continueOnError: random.pick([1, '34%', '50%']) } : undefined;
}

/** A run that lost its journal does not know how its data was: there, and where inputs are mounted read-only, nothing is changed. */
function drawWrites(
  random: Random,
  inputs: readonly string[],
  { comparesInputs, losesJournals }: Traits,
): Pick<StepScript, 'writable' | 'spoils'> {
  const writable = inputs.filter(() => random.chance(0.25));
  const spoils = [1, 2].filter(() => comparesInputs && !losesJournals && random.chance(0.15));
  return {
    ...(writable.length > 0 && { writable }),
    ...(spoils.length > 0 && inputs.length > writable.length && { spoils }),
  };
}

function drawMoment(random: Random): { readonly operation: number; readonly before: boolean } {
  return { operation: 8 + random.below(90), before: random.chance(0.5) };
}

function drawMishap(random: Random): Mishap {
  const operation = 8 + random.below(60);
  const afterMs = random.below(60_000);
  switch (random.below(9)) {
    case 0:
      return { kind: 'suspend', afterMs };
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

function describeMatrix({ cells, foreach }: StepScript): Partial<Step> {
  // Also a single item of a `foreach` gives its cell a key.
  if (cells <= 1 && !foreach) return {};
  return { matrix: { axes: { n: Array.from({ length: cells }, (_, n) => n) }, include: [], exclude: [] } };
}

/** The keys of its cells are those of the matrix. */
function describeForeach({ cells, foreach }: StepScript): Partial<Step> {
  const items = Array.from({ length: cells }, (_, n) => `'n-${n}'`);
  return { foreach: foreach === 'broken' ? `\${{ ['n-0'][${cells}] }}` : `\${{ [${items.join(', ')}] }}` };
}

/** The plan of a run. With `isDecided`, the cells of each `foreach` and of each list are in it, under the keys of their items. */
export function planRun(
  run: RunScript,
  { pools, group, isRunAgain }: Omit<Scenario, 'runs'>,
  { isDecided = false } = {},
): Plan {
  const lister = findLister(run.steps);
  const steps = run.steps.map((script): Step => {
    const base = createStep(script.name);
    return {
      ...base,
      needs: script.needs.map((step) => ({ step, condition: 'succeeded' as const })),
      inputs: Object.fromEntries(
        script.inputs.map((step) => {
          const isWritable = script.writable?.includes(step);
          return [step, { from: { step, output: 'out' }, path: `/in/${step}`, ...(isWritable && { writable: true }) }];
        }),
      ),
      outputs: script.hasOutput ? { out: { path: '/out', retain: true } } : {},
      ...(script.foreach && !isDecided ? describeForeach(script) : describeMatrix(script)),
      ...describeAxes(script),
      ...(script.timeoutMs !== undefined && { timeoutMs: script.timeoutMs }),
      ...(script.asks && { approval: {} }),
      ...(script.pools && { pools: script.pools }),
      ...(isRunAgain && { cache: { ignore: [] }, command: [script.name] }),
      ...(script.clusters && { placement: { ordered: script.clusters } }),
      continueOnError: script.continueOnError,
      retry: { ...base.retry, limit: script.retries, on: ['failed', 'oom', 'timeout', 'infrastructure'] },
    };
  });
  const plan = createHandPlan(steps, {
    name: 'simulated',
    failFast: run.failFast,
    pools,
    ...(group && { concurrency: { ...group, group: 'simulated' } }),
    ...(run.parallelism !== undefined && { parallelism: run.parallelism }),
  });
  if (lister === undefined) return plan;
  const planned = planAxes(plan, lister);
  return isDecided ? addParts(planned, lister) : planned;
}
