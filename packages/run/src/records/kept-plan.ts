import type { Cell, Need, NeedCondition, Pipeline, Plan, PlannedDependency, Step } from '@sluice/core';
import { expandEach, namedAxes } from '@sluice/core';
import { describeOtherFormat } from './describe-other-format.ts';

/** The only format that this version reads, and the one that it writes. Plans of the first one have no number. */
export const PLAN_FORMAT = 2;

/**
 * The stored form of a plan. A fan-in of a thousand steps by a thousand has a million dependencies, and every command that
 * shows the run reads them: each takes the name in `needs`, and nearly nothing in `dependencies`.
 */
export interface KeptPlan extends Omit<Plan, 'pipeline' | 'steps'> {
  readonly format: typeof PLAN_FORMAT;
  readonly pipeline: KeptPipeline;
  /** Those of the pipeline, then those of `finally`. */
  readonly steps: readonly KeptStep[];
}

interface KeptPipeline extends Omit<Pipeline, 'steps' | 'finally'> {
  readonly steps: readonly NeedyStep[];
  readonly finally: readonly NeedyStep[];
}

/** In `needs`, a name means the condition `succeeded`. */
interface NeedyStep extends Omit<Step, 'needs'> {
  readonly needs: readonly (string | Need)[];
}

/** What the pipeline does not say of a step. */
interface KeptStep {
  readonly dependencies: readonly KeptDependencies[];
  /** Absent: the one of a plain step, those of the axes of `each`, or unknown if the step has `foreach`. */
  readonly cells?: readonly Cell[];
}

/** The dependencies of a step that differ only in the step depended on. */
interface KeptDependencies {
  readonly on: readonly StepRange[];
  /** The input of which these are the sources, if it has rules of its own. */
  readonly input?: string;
  /** Absent: `succeeded`. */
  readonly condition?: NeedCondition;
  readonly data?: true;
}

/** The index of a step, or the first and the last of several. */
export type StepRange = number | readonly [first: number, last: number];

/** The stored form of a plan. Equal plans have equal forms. */
export function encodePlan({ pipeline, params, paramDoubles, axes, steps }: Plan): KeptPlan {
  return {
    format: PLAN_FORMAT,
    pipeline: { ...pipeline, steps: pipeline.steps.map(encodeNeeds), finally: pipeline.finally.map(encodeNeeds) },
    params,
    ...(paramDoubles && { paramDoubles }),
    ...(axes && { axes }),
    steps: steps.map(({ step, dependencies, cells }) => {
      const encoded = encodeDependencies(dependencies);
      const isKnown = cells === undefined || step.each !== undefined || isPlain(cells);
      return isKnown ? { dependencies: encoded } : { dependencies: encoded, cells };
    }),
  };
}

function isPlain(cells: readonly Cell[]): boolean {
  return cells.length === 1 && cells[0]!.key === '';
}

/** Why a stored value cannot be read by this version; undefined: it has the format of this version. */
export function findFormatFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'it is no plan';
  const { format = 1 } = value as { readonly format?: unknown };
  return typeof format === 'number' ? describeOtherFormat(format, PLAN_FORMAT) : 'its format is unknown';
}

/** The plan of a stored form. Throws if a dependency names a step that the plan does not have. */
export function decodePlan({ pipeline, params, paramDoubles, axes, steps: planned }: KeptPlan): Plan {
  const steps = pipeline.steps.map(decodeNeeds);
  const last = pipeline.finally.map(decodeNeeds);
  const all = last.length === 0 ? steps : [...steps, ...last];
  if (all.length !== planned.length) throw new Error('it has not the steps of its pipeline');
  const decoded = { ...pipeline, steps, finally: last };
  const cellsOf = createCellFinder(decoded, axes);
  return {
    pipeline: decoded,
    params,
    ...(paramDoubles && { paramDoubles }),
    ...(axes && { axes }),
    steps: all.map((step, index) => ({
      ...{ index, step, final: index >= steps.length },
      dependencies: decodeDependencies(planned[index]!.dependencies, all.length),
      cells: planned[index]!.cells ?? cellsOf(step),
    })),
  };
}

const PLAIN: readonly Cell[] = Object.freeze([Object.freeze({ key: '', matrix: Object.freeze({}) })]);

/** The cells that the stored form does not have. Steps with the same axes share them. */
function createCellFinder(pipeline: Pipeline, axes: Plan['axes'] = {}): (step: Step) => readonly Cell[] | undefined {
  const known = new Map<string, readonly Cell[]>();
  return ({ name, each, foreach }) => {
    if (foreach !== undefined) return undefined;
    if (each === undefined) return PLAIN;
    const key = each.join();
    const cells = known.get(key) ?? orThrow(name, expandEach(axes, namedAxes(pipeline, each)));
    known.set(key, cells);
    return cells;
  };
}

function orThrow(step: string, cells: ReturnType<typeof expandEach>): readonly Cell[] {
  if (!cells.ok) throw new Error(`the axes of its step ${step} do not fit: ${cells.error}`);
  return cells.value;
}

function encodeNeeds(step: Step): NeedyStep {
  if (step.needs.length === 0) return step;
  return { ...step, needs: step.needs.map((need) => (need.condition === 'succeeded' ? need.step : need)) };
}

function decodeNeeds(step: NeedyStep): Step {
  const needs = step.needs.map((need) =>
    typeof need === 'string' ? { step: need, condition: 'succeeded' as const } : need,
  );
  return needs.length === 0 ? (step as Step) : { ...step, needs };
}

function encodeDependencies(dependencies: readonly PlannedDependency[]): readonly KeptDependencies[] {
  const groups: { readonly like: PlannedDependency; readonly on: StepRange[] }[] = [];
  for (const one of dependencies) {
    const known = groups.find(
      ({ like }) => like.condition === one.condition && like.data === one.data && like.input === one.input,
    );
    if (known === undefined) groups.push({ like: one, on: [one.on] });
    else addStep(known.on, one.on);
  }
  return groups.map(({ on, like: { condition, data, input } }) => ({
    on,
    ...(input !== undefined && { input }),
    ...(condition !== 'succeeded' && { condition }),
    ...(data && { data }),
  }));
}

function addStep(ranges: StepRange[], on: number): void {
  const last = ranges.at(-1)!;
  if (lastOf(last) === on - 1) ranges[ranges.length - 1] = [firstOf(last), on];
  else ranges.push(on);
}

function decodeDependencies(groups: readonly KeptDependencies[], steps: number): readonly PlannedDependency[] {
  const dependencies: PlannedDependency[] = [];
  for (const { on: ranges, condition = 'succeeded', data = false, input } of groups) {
    for (const range of ranges) {
      const last = lastOf(range);
      // Otherwise a few damaged bytes could exhaust the memory.
      if (!(last < steps)) throw new Error(`it has no step ${last}`);
      for (let on = firstOf(range); on <= last; on++)
        dependencies.push({ on, condition, data, ...(input !== undefined && { input }) });
    }
  }
  return groups.length > 1 ? dependencies.sort((a, b) => a.on - b.on) : dependencies;
}

/** How many dependencies a list of ranges stands for. */
export function countSteps(ranges: readonly StepRange[]): number {
  return ranges.reduce<number>((sum, range) => sum + lastOf(range) - firstOf(range) + 1, 0);
}

function firstOf(range: StepRange): number {
  return typeof range === 'number' ? range : range[0];
}

function lastOf(range: StepRange): number {
  return typeof range === 'number' ? range : range[1];
}
