import path from 'node:path';
import { explainDifference, fail, ok, type Plan, type Result } from '@sluice/core';
import {
  type Clock,
  checkReuse,
  createIdentities,
  createLookup,
  createRemovalRecords,
  createRerunCheck,
  createReusableRun,
  createSystemClock,
  createSystemDisk,
  type Disk,
  type ReusableRun,
  readCacheIndex,
  readDurations,
  replayFromHome,
} from '@sluice/home';
import {
  type ContextSource,
  type ReplayedRun,
  type Reuse,
  type RunError,
  sourcePath,
  TERMINAL_CELL_STATES,
  type VolumePlace,
} from '@sluice/run';
import { digestParts } from '../data/digest-parts.ts';
import { scanSource } from '../trees/scan-source.ts';
import { findRestored } from './find-restored.ts';
import { measureReused } from './measure-reused.ts';
import { createSimulatedRun, type MissedCell, simulateReuse } from './simulate-reuse.ts';

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
  /** How long the reused cells ran when they were executed: the sum in milliseconds. */
  readonly reusedMs: number;
  /** The number of reused cells of which no duration is recorded. */
  readonly unmeasured: number;
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
  /** What happens to the cells of each; absent if nothing is reused. */
  readonly steps?: readonly ReusePreview[];
}

/** A step is reused as a whole if no cell of it is run. */
export function sumUpPreview(previews: readonly ReusePreview[]): StepsOfPreview {
  const isWhole = ({ cells, reused, skipped }: ReusePreview) => cells !== undefined && reused + skipped === cells;
  return {
    reused: previews.filter(isWhole).map(({ step }) => step),
    run: previews.filter((one) => !isWhole(one)).map(({ step }) => step),
    steps: previews,
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
  const header = { ...replayed.value.facts.header!, ...checked.value };
  const run = createSimulatedRun({ runId: 'preview', plan }, { header, volumes: volumes.value });
  const earlier = createReusableRun(replayed.value);
  const clock = options.clock ?? createSystemClock();
  const lookUp = createLookup(run, { earlier, index: await readCacheIndex(disk, home), now: clock.now });
  const missed = await simulateReuse(run, { lookUp, clock });
  const removals = createRemovalRecords({ disk, home });
  const restored = await findRestored(run, async (_, source, output) => !(await removals.has(source, output)));
  const findRerun = createRerunCheck(run, createIdentities(run).lineage);
  const durations = (await readDurations(disk, home, plan.pipeline.name)) ?? {};
  const records = { earlier: replayed.value, durations };
  return ok(
    plan.steps.map(({ index }) =>
      describeStep(run, {
        step: index,
        missed: missed.get(index),
        restored: restored.get(index) ?? NONE,
        records,
        earlier,
        findRerun,
      }),
    ),
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
      const scanned = await scanSource(path.resolve(baseDir, source), options);
      const { digest } = scanned;
      const parts = digestParts(plan, { volume: name, scanned });
      volumes[name] = { volumeID: volumes['']?.volumeID ?? '', path: sourcePath(digest).files, digest, parts };
    } catch (error) {
      const message = `could not read the source of volume ${name}: ${(error as Error).message}`;
      return fail({ code: 'SOURCE_MISSING', message });
    }
  }
  return ok(volumes);
}

/** The most reasons that are listed; each cell may have its own. */
const MAX_REASONS = 3;

const NONE: ReadonlySet<string> = new Set();

interface StepAsked {
  readonly step: number;
  readonly missed: readonly MissedCell[] | undefined;
  readonly restored: ReadonlySet<string>;
  readonly records: Parameters<typeof measureReused>[2];
  readonly earlier: ReusableRun;
  readonly findRerun: ReturnType<typeof createRerunCheck>;
}

function describeStep(run: ContextSource, asked: StepAsked): ReusePreview {
  const { step, records } = asked;
  const restored = asked.restored.size;
  const { scheduler, plan } = run;
  const cells = hasOpenLists(run, step) ? undefined : scheduler.cellCount(step);
  const states = Array.from({ length: scheduler.cellCount(step) ?? 0 }, (_, cell) => scheduler.state(step, cell));
  const [found, skipped] = (['cached', 'skipped'] as const).map(
    (state) => states.filter((one) => one === state).length,
  );
  const isDone = cells !== undefined && found! + skipped! === cells;
  const reasons = [
    ...(isDone ? [] : [describeReason(run, asked)]),
    ...(restored > 0 ? [describeRestored(restored)] : []),
  ];
  const { ms, unknown } = measureReused(run, { step, without: asked.restored }, records);
  return {
    step: plan.steps[step]!.step.name,
    ...{ reusedMs: ms, unmeasured: unknown },
    ...(cells !== undefined && { cells }),
    reused: found! - restored,
    skipped: skipped!,
    reason: reasons.join('; '),
  };
}

/** Whether a step has cells that stand for lists, so that the number of its cells is not known. */
function hasOpenLists({ facts, scheduler }: ContextSource, step: number): boolean {
  const batches = facts.batches[step];
  return Array.from({ length: batches?.planned ?? 0 }, (_, batch) => batch).some(
    (batch) => batches!.sizeOf(batch) === undefined && !TERMINAL_CELL_STATES.has(scheduler.state(step, batch)),
  );
}

function describeRestored(count: number): string {
  return `the temporary outputs of ${count === 1 ? '1 cell' : `${count} cells`} were removed, and cells that run mount them`;
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
  { step, one, earlier, findRerun }: Pick<StepAsked, 'step' | 'earlier' | 'findRerun'> & { one: MissedCell },
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
