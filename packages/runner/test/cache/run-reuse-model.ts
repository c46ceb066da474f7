import type { Container } from '@sluice/client';
import { findSharedRead } from '@sluice/core';
import type { RunReport } from '@sluice/run';
import { createRandom, type Random } from '../../../run/test/random.ts';
import { writeFile } from '../simulation/memory-files.ts';
import {
  type EndedRun,
  findLostOrder,
  findMixedContents,
  findRestoredCells,
  findWrongRemovals,
  hasWorked,
  lacksRestored,
  type Reads,
} from './check-reuse-laws.ts';
import { drawBody } from './draw-plan.ts';
import { createReuseWorld, type GivenRun, planOf, type ReuseSubject, type ReuseWorld } from './reuse-world.ts';

export interface ReuseModelResult {
  /** Descriptions of broken laws. */
  readonly violations: readonly string[];
  /** Numbers of steps that were reused and executed: a test checks that both occurred. */
  readonly reused: number;
  readonly executed: number;
}

const ROUNDS = 4;

/**
 * Runs one pipeline repeatedly in one home: with the cache or with `--reuse`, one run or two at the same time, with failures
 * and with runs that are suspended and resumed. The content of each output is unique.
 */
export async function runReuseModel(seed: string, subject: ReuseSubject): Promise<ReuseModelResult> {
  const random = createRandom(seed);
  const body = drawBody(random, { cached: random.pick([0.3, 0.85]) });
  const world = createReuseWorld(seed, drawValues(random), subject);
  const programs = createPrograms(world, random.fork('programs'));
  const violations: string[] = [];
  const past: RunReport[] = [];
  let [reused, executed] = [0, 0];

  async function judge(given: GivenRun, report: RunReport): Promise<void> {
    const restored = await findRestoredCells(world.rig, report);
    const ended: EndedRun = { report, plan: planOf(given), restored, isReuse: given.reuse !== undefined };
    violations.push(
      ...findLostOrder(ended),
      ...findUnlawful(ended),
      ...findUnasked(given, report),
      ...(await findMixedContents(world.rig, report, programs.readsOf)),
      ...(await findWrongRemovals(world.rig, report, programs.readsOf)),
    );
    reused += report.steps.filter(({ cells }) => cells.some((cell) => cell.reused)).length;
    executed += report.steps.filter((_, step) => hasWorked(ended, step)).length;
    past.push(report);
  }

  async function runOne(given: GivenRun): Promise<void> {
    const predicted = given.reuse && (await world.preview(given)).map((one) => `${one.step} ${one.reused}`);
    const report = await world.start(given);
    const taken = report.steps.map(({ step: name, cells }) => `${name} ${cells.filter((cell) => cell.reused).length}`);
    // What is computed again only for its readers can fail, and then they reuse nothing.
    const isFit = predicted !== undefined && !(await lacksRestored(world.rig, report));
    if (isFit && predicted.join() !== taken.join()) violations.push(`reuses ${taken}, but predicted ${predicted}`);
    await judge(given, report);
  }

  for (let round = 0; round < ROUNDS && violations.length === 0; round++) {
    programs.fail(random.chance(0.3) ? `s${random.below(9)}` : '');
    if (random.chance(0.3)) {
      const pair = [drawRun(body, past, random), drawRun(body, past, random)];
      const reports = await world.startAll(pair);
      for (const [index, report] of reports.entries()) await judge(pair[index]!, report);
    } else await runOne(drawRun(body, past, random));
  }
  programs.fail('');
  if (violations.length === 0) {
    // The next run can reuse all that two parallel runs have created; another pipeline has no cache entries yet.
    const given = random.chance(0.5) ? { body, name: 'other' } : { body };
    const calm = given.name === undefined ? [given] : [given, given];
    for (const report of await world.startAll(calm)) await judge(given, report);
    await runOne(given);
    violations.push(
      ...findMissingHits(
        { report: past.at(-1)!, plan: planOf(given) },
        await findRestoredCells(world.rig, past.at(-1)!),
      ),
    );
    if (past.at(-1)!.status !== 'succeeded') violations.push('the last run failed');
  }
  return { violations: violations.map((text) => `${text} in ${body}`), reused, executed };
}

function drawRun(body: string, past: readonly RunReport[], random: Random): GivenRun {
  const params = { p: random.below(2), ...(random.chance(0.2) && { go: random.chance(0.5) }) };
  return {
    body,
    params,
    ...(past.length > 0 && random.chance(0.5) && { reuse: drawReuse(random.pick(past), random) }),
    ...(random.chance(0.2) && { leaveAfterMs: random.below(2000) }),
  };
}

/** With a step or, if it has several, one of its cells that is rerun although it has not changed. */
function drawReuse({ runId, steps }: RunReport, random: Random): NonNullable<GivenRun['reuse']> {
  if (random.chance(0.6)) return { runId, from: [] };
  const { step, cells } = random.pick(steps);
  const named = cells.map(({ cell }) => cell).filter((cell) => cell !== '');
  return { runId, from: [named.length > 0 && random.chance(0.6) ? `${step}/${random.pick(named)}` : step] };
}

/** Cells that were reused although a rerun of them was requested. */
function findUnasked({ reuse }: GivenRun, { steps }: RunReport): string[] {
  const from = new Set(reuse?.from);
  return steps.flatMap(({ step, cells }) =>
    cells.flatMap(({ cell, reused }) =>
      reused && (from.has(step) || from.has(`${step}/${cell}`)) ? [`${step}/${cell} is reused in spite of --from`] : [],
    ),
  );
}

/** Steps that must not be reused at all. */
function findUnlawful({ report, plan }: Pick<EndedRun, 'report' | 'plan'>): string[] {
  return plan.steps.flatMap(({ step, final, index }) => {
    const isReused = report.steps[index]!.cells.some((cell) => cell.reused);
    if (!isReused || (!final && findSharedRead(step, plan.pipeline) === undefined)) return [];
    return [`${step.name} is reused, which is one of finally or mounts a shared volume`];
  });
}

/** Cached steps that a repeated run has executed, although it executed no step before them. */
function findMissingHits({ report, plan }: Pick<EndedRun, 'report' | 'plan'>, restored: ReadonlySet<string>): string[] {
  const quiet = new Set<number>();
  const missing: string[] = [];
  for (const { index, step, final, dependencies } of plan.steps) {
    const { cells, status } = report.steps[index]!;
    const isReused = cells.length > 0 && cells.every(({ reused }, cell) => reused || restored.has(`${index}/${cell}`));
    const isIdle = step.approval !== undefined || status === 'skipped' || cells.length === 0;
    const isService = step.service !== undefined && findSharedRead(step, plan.pipeline) === undefined;
    const isDue = dependencies.every(({ on }) => quiet.has(on));
    if (isReused || ((isIdle || isService) && isDue)) quiet.add(index);
    const isCached = step.cache !== undefined && findSharedRead(step, plan.pipeline) === undefined && !final;
    if (isCached && isDue && status === 'succeeded' && cells.length > 0 && !isReused)
      missing.push(`${step.name} is executed again, although nothing before it was`);
  }
  return missing;
}

/** The list that each step gives as its result. */
function drawValues(random: Random): Record<string, string> {
  const lists = ['["a"]', '[]', '["a","a"]'];
  return Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`s${index}`, random.pick(lists)]));
}

/** Programs with random durations that write unique contents; `readsOf` returns what a program had read. */
function createPrograms({ rig, behave }: ReuseWorld, random: Random) {
  const reads = new Map<string, Reads>();
  let failing = '';

  function work(container: Container): void {
    const { volumeMounts = {}, labels = {} } = container;
    const name = ['run', 'step', 'cell', 'attempt'].map((label) => labels[`sluice-${label}`]).join('/');
    const found = new Map<string, string>();
    for (const [key, at] of Object.entries(volumeMounts)) {
      const [volume = '', place = ''] = key.split(':');
      const { files } = rig.simulated.volumes.get(volume)!;
      if (at === '/o') writeFile(rig.simulated.volumes.get(volume)!, `${place}/data`, Buffer.from(name));
      if (!at.startsWith('/in/')) continue;
      for (const [file, bytes] of files) {
        const isData = file.startsWith(`${place}/`) && file.endsWith('/data');
        if (isData) found.set(at + file.slice(place.length), Buffer.from(bytes).toString());
      }
    }
    reads.set(name, found);
  }

  for (let index = 0; index < 9; index++) {
    const step = `s${index}`;
    behave[step] = {
      begin: work,
      get runMs() {
        return random.pick([0, 100, 1000, 3000]);
      },
      get end() {
        return step === failing ? ('Failed' as const) : ('Succeeded' as const);
      },
    };
  }
  return {
    fail: (step: string) => {
      failing = step;
    },
    readsOf: (content: string) => reads.get(content),
  };
}
