import path from 'node:path';
import { explainDifference, fail, ok, type Plan, type Result } from '@sluice/core';
import {
  type Clock,
  checkReuse,
  createIdentities,
  createLookup,
  createRerunCheck,
  createReusableRun,
  createSystemClock,
  createSystemDisk,
  createTurnDeadline,
  type Disk,
  type LookedUp,
  type ReusableRun,
  readCacheIndex,
  replayFromHome,
} from '@sluice/home';
import {
  applyEvent,
  applyRecord,
  type Command,
  type ContextSource,
  createRunFacts,
  createRunScheduler,
  type ReplayedRun,
  type Reuse,
  type RunError,
  sourcePath,
  TERMINAL_CELL_STATES,
  type VolumePlace,
} from '@sluice/run';
import { decideStep } from '../session/decide-step.ts';
import type { Posted } from '../session/posted.ts';
import { createRunUsage } from '../session/run-usage.ts';
import { scanSource } from '../trees/scan-source.ts';

/** What a run that reuses an earlier one would do with a step. */
export interface ReusePreview {
  readonly step: string;
  /** The number of cells, if it is known before the run. */
  readonly cells?: number;
  /** The number of cells whose results would be reused. */
  readonly reused: number;
  /** The number of cells that would be skipped. */
  readonly skipped: number;
  /** Why the others run; `''` if there are none. */
  readonly reason: string;
}

interface PreviewOptions {
  readonly plan: Plan;
  readonly reuse: Reuse;
  readonly home: string;
  /** The directory to which the pipeline's sources are relative. Absent: the sources are those of the earlier run. */
  readonly baseDir?: string;
  readonly disk?: Disk;
  readonly clock?: Clock;
}

/** The names of the steps that a run would reuse as a whole, and of all others. */
export interface StepsOfPreview {
  readonly reused: readonly string[];
  readonly run: readonly string[];
}

/** A step is reused as a whole if no cell of it is run. */
export function sumUpPreview(previews: readonly ReusePreview[]): StepsOfPreview {
  const isWhole = ({ cells, reused, skipped }: ReusePreview) => cells !== undefined && reused + skipped === cells;
  return {
    reused: previews.filter(isWhole).map(({ step }) => step),
    run: previews.filter((one) => !isWhole(one)).map(({ step }) => step),
  };
}

/**
 * Predicts what a run would reuse and what it would execute, without a request to a service: it does not check whether
 * the data still exists. Steps that depend on a step that would be executed count as executed, too.
 */
export async function previewReuse(options: PreviewOptions): Promise<Result<readonly ReusePreview[], RunError>> {
  const disk = options.disk ?? createSystemDisk();
  const home = path.resolve(options.home);
  const checked = await checkReuse(options.reuse, { disk, home, plan: options.plan });
  if (!checked.ok) return checked;
  const replayed = await replayFromHome(disk, home, checked.value.reuse.runId);
  if (!replayed.ok) return replayed;
  const volumes = await findVolumes({ ...options, home, disk }, replayed.value);
  if (!volumes.ok) return volumes;
  const { plan } = options;
  const facts = createRunFacts(plan);
  const header = { ...replayed.value.facts.header!, ...checked.value };
  applyRecord(facts, header);
  applyRecord(facts, { kind: 'volumes', volumes: volumes.value });
  const usage = createRunUsage(facts, undefined);
  const run = { runId: 'preview', plan, facts, scheduler: createRunScheduler(plan, header), usage };
  const earlier = createReusableRun(replayed.value);
  const clock = options.clock ?? createSystemClock();
  const lookUp = createLookup(run, { earlier, index: await readCacheIndex(disk, home), now: clock.now });
  const missed = await simulate(run, { lookUp, clock });
  const findRerun = createRerunCheck(run, createIdentities(run).lineage);
  return ok(
    plan.steps.map(({ index }) => describeStep(run, { step: index, missed: missed.get(index), earlier, findRerun })),
  );
}

/** The volumes of the run: sources by the digest of their content as it is now, the others as in the earlier run. */
async function findVolumes(
  { plan, baseDir, home, disk }: PreviewOptions & { readonly disk: Disk },
  earlier: ReplayedRun,
): Promise<Result<Readonly<Record<string, VolumePlace>>, RunError>> {
  const volumes: Record<string, VolumePlace> = { ...earlier.facts.volumes };
  for (const [name, { id, source, exclude }] of Object.entries(plan.pipeline.volumes)) {
    if (id !== undefined) volumes[name] = { volumeID: id, path: '' };
    if (source === undefined || baseDir === undefined) continue;
    try {
      const options = { disk, home, now: Date.now(), ...(exclude && { exclude }) };
      const { digest } = await scanSource(path.resolve(baseDir, source), options);
      volumes[name] = { volumeID: volumes['']?.volumeID ?? '', path: sourcePath(digest).files, digest };
    } catch (error) {
      const message = `could not read the source of volume ${name}: ${(error as Error).message}`;
      return fail({ code: 'SOURCE_MISSING', message });
    }
  }
  return ok(volumes);
}

/** Cells of a step that were looked up and not found. */
type Missed = { readonly cell: number; readonly looked: Exclude<LookedUp, { kind: 'found' }> }[];

/**
 * Simulates the run without containers, as if every service became ready and every approval was granted. Returns the
 * cells that were not found, by step. On a server, the runs that are executed continue meanwhile.
 */
async function simulate(
  run: Parameters<typeof decideStep>[0],
  { lookUp, clock }: { lookUp: (step: number, cell: number) => LookedUp; clock: Clock },
): Promise<ReadonlyMap<number, Missed>> {
  const missed = new Map<number, Missed>();
  const at = clock.now();
  const note = (step: number, one: Missed[number]): void => {
    const others = missed.get(step) ?? [];
    others.push(one);
    missed.set(step, others);
  };
  let hasPassed = createTurnDeadline(clock);
  const answer = (command: Command): Posted[] => {
    if (command.type === 'decide') {
      const decided = decideStep(run, { ...command, at });
      if (decided.event.type !== 'evaluationFailed') return [decided];
      // A failure would end the simulation. The expression may need the address of a service, which only a run knows.
      const { message } = decided.event;
      note(command.step, { cell: command.cell ?? 0, looked: { kind: 'unevaluated', message, isOfKey: false } });
      return [];
    }
    if (command.type === 'askApproval') {
      const { type: _, ...gate } = command;
      return [{ event: { type: 'approved', at, ...gate, approved: true, by: 'preview' } }];
    }
    if (command.type === 'submit') {
      const { step, cell, attempt } = command;
      if (run.plan.steps[step]!.step.service === undefined) return [];
      return (['running', 'serviceReady'] as const).map((type) => ({ event: { type, at, step, cell, attempt } }));
    }
    if (command.type !== 'lookUp') return [];
    const { step, cell } = command;
    const looked = lookUp(step, cell);
    if (looked.kind === 'found') {
      return [{ event: { type: 'cacheHit', at, step, cell }, facts: { cached: looked.source } }];
    }
    note(step, { cell, looked });
    return [{ event: { type: 'cacheMissed', at, step, cell } }];
  };
  const posted: Posted[] = [{ event: { type: 'started', at } }];
  // The loop also handles the events that are posted meanwhile.
  for (const next of posted) {
    for (const command of applyEvent(run, { kind: 'event', ...next })) {
      posted.push(...answer(command));
      if (!hasPassed()) continue;
      await new Promise<void>(clock.defer);
      hasPassed = createTurnDeadline(clock);
    }
  }
  return missed;
}

/** The most reasons that are listed; each cell may have its own. */
const MAX_REASONS = 3;

interface StepAsked {
  readonly step: number;
  readonly missed: Missed | undefined;
  readonly earlier: ReusableRun;
  readonly findRerun: ReturnType<typeof createRerunCheck>;
}

function describeStep(run: ContextSource, asked: StepAsked): ReusePreview {
  const { step } = asked;
  const { scheduler, plan } = run;
  const cells = scheduler.cellCount(step);
  const states = Array.from({ length: cells ?? 0 }, (_, cell) => scheduler.state(step, cell));
  const [reused, skipped] = (['cached', 'skipped'] as const).map(
    (state) => states.filter((one) => one === state).length,
  );
  const isDone = cells !== undefined && reused! + skipped! === cells;
  return {
    step: plan.steps[step]!.step.name,
    ...(cells !== undefined && { cells }),
    reused: reused!,
    skipped: skipped!,
    reason: isDone ? '' : describeReason(run, asked),
  };
}

function describeReason(run: ContextSource, { step, missed, earlier, findRerun }: StepAsked): string {
  const { step: spec, dependencies } = run.plan.steps[step]!;
  const rerun = findRerun(step);
  if (rerun?.kind === 'final') return 'runs last';
  if (spec.service !== undefined) return 'a service always runs';
  if (spec.approval !== undefined) return 'asks for approval again';
  if (rerun?.kind === 'requested') return 'a rerun was requested';
  const open = dependencies
    .filter(({ on }) => !TERMINAL_CELL_STATES.has(run.scheduler.state(on)))
    .map(({ on }) => run.plan.steps[on]!.step);
  const working = open.filter(({ service }) => service === undefined);
  // A step that was not looked up waits for something, perhaps only for a service that found no capacity in the simulation.
  const before = working.length > 0 ? working : missed === undefined ? open : [];
  if (before.length > 0) return `comes after ${before.map(({ name }) => name).join(', ')}`;
  const reasons = new Set((missed ?? []).map((one) => describeMiss(run, { step, one, earlier, findRerun })));
  const shown = [...reasons].slice(0, MAX_REASONS).join('; ');
  return reasons.size > MAX_REASONS ? `${shown}; and ${reasons.size - MAX_REASONS} other reasons` : shown;
}

function describeMiss(
  { plan, facts }: ContextSource,
  { step, one, earlier, findRerun }: Pick<StepAsked, 'step' | 'earlier' | 'findRerun'> & { one: Missed[number] },
): string {
  const { cell, looked } = one;
  if (looked.kind === 'unevaluated') return `known only during the run: ${looked.message}`;
  if (findRerun(step, cell)?.kind === 'requested') return 'a rerun was requested';
  if (looked.reason === 'writesShared') return 'writes to a shared volume';
  if (looked.reason === 'readsShared') return 'reads a volume to which others may write';
  const before = earlier.fingerprintOf(plan.steps[step]!.step.name, facts.cells[step]?.[cell]?.key ?? '');
  if (before === undefined) return `did not succeed in run ${earlier.runId}`;
  return `differs in ${explainDifference(before, looked.fingerprint)
    .map(({ name }) => name)
    .join(', ')}`;
}
