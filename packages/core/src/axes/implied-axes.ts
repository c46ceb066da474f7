import type { Pipeline, Step } from '../model/pipeline.ts';
import type { JsonTemplate } from '../model/template.ts';
import { type AxisSource, isListedAxis, listingStep } from './listed-axes.ts';

type Axes = NonNullable<Pipeline['axes']>;
const NO_AXES: Axes = Object.freeze({});

/** By axis: the axes of which each of its items implies one item, directly. Axes that do not exist are omitted. */
export function directlyImplied(source: AxisSource): ReadonlyMap<string, ReadonlySet<string>> {
  const { axes = NO_AXES } = source;
  const implied = new Map(Object.keys(axes).map((name) => [name, new Set<string>()]));
  for (const [name, axis] of Object.entries(axes)) {
    for (const other of Object.keys(axis.of)) if (implied.has(other)) implied.get(name)!.add(other);
    if (axis.distinct !== undefined) implied.get(axis.distinct.axis)?.add(name);
    for (const other of listingStep(source, name)?.each ?? []) if (implied.has(other)) implied.get(name)!.add(other);
  }
  return implied;
}

/** By axis: all axes that its items imply, without itself unless they are in a cycle. */
export function impliedAxes(source: AxisSource): ReadonlyMap<string, ReadonlySet<string>> {
  const { axes = NO_AXES } = source;
  const known = REMEMBERED.get(axes);
  if (known !== undefined) return known;
  const direct = directlyImplied(source);
  const all = new Map<string, ReadonlySet<string>>();
  for (const name of direct.keys()) {
    const found = new Set<string>();
    const open = [...direct.get(name)!];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(...(direct.get(next) ?? []));
    }
    all.set(name, found);
  }
  REMEMBERED.set(axes, all);
  return all;
}

const REMEMBERED = new WeakMap<Axes, ReadonlyMap<string, ReadonlySet<string>>>();

/** The axes that the cells of a step have: those of `each`, then those that they imply. */
export function axesOfStep(pipeline: Pipeline, step: Pick<Step, 'each'>): readonly string[] {
  const { axes } = pipeline;
  if (step.each === undefined || axes === undefined) return [];
  const implied = impliedAxes(pipeline);
  return [...new Set([...step.each, ...step.each.flatMap((axis) => [...(implied.get(axis) ?? [])])])].filter((axis) =>
    Object.hasOwn(axes, axis),
  );
}

/** These axes and all that they imply. */
export function fixedAxes(pipeline: Pipeline, given: Iterable<string>): ReadonlySet<string> {
  const implied = impliedAxes(pipeline);
  const fixed = new Set<string>();
  for (const axis of given) {
    fixed.add(axis);
    for (const other of implied.get(axis) ?? []) fixed.add(other);
  }
  return fixed;
}

/** The axes on which the cells of an edge have to agree. */
export interface EdgeAxes {
  /** The axes of the reading cell that still count, by the rules of the input. */
  readonly kept: readonly string[];
  /** Those that both steps have, without those that others of them imply. */
  readonly shared: readonly string[];
  /** Whether they fix one cell of the step that is read. */
  readonly isSingle: boolean;
}

/** What an input says about matching. */
export interface MatchRules {
  readonly where?: Readonly<Record<string, JsonTemplate>>;
  readonly all?: readonly string[];
}

/**
 * Compares the axes of two steps. `where` replaces this cell's item of an axis, those that it implies, and those that
 * imply it; of a listed axis, it replaces the item only, so that it names one of the same list. `all` releases an axis, and
 * those that imply it.
 */
export function matchAxes(
  pipeline: Pipeline,
  { reader, source, rules = {} }: { reader: Pick<Step, 'each'>; source: Pick<Step, 'each'>; rules?: MatchRules },
): EdgeAxes {
  const implied = impliedAxes(pipeline);
  const given = Object.keys(rules.where ?? {});
  const implying = (axis: string, other: string): boolean => implied.get(other)?.has(axis) === true;
  const kept = axesOfStep(pipeline, reader).filter(
    (axis) =>
      !given.some(
        (bound) => axis === bound || implying(bound, axis) || (implying(axis, bound) && !isListedAxis(pipeline, bound)),
      ) && !(rules.all ?? []).some((released) => axis === released || implying(released, axis)),
  );
  const has = new Set(axesOfStep(pipeline, source));
  const all = new Set([...kept, ...given.flatMap((axis) => [axis, ...(implied.get(axis) ?? [])])]);
  const both = [...all].filter((axis) => has.has(axis));
  // Cells that agree on an axis agree on what it implies, also where its items have no value there.
  const shared = both.filter((axis) => !both.some((other) => implying(axis, other) && !implying(other, axis))).sort();
  const isList = Object.values(rules.where ?? {}).some((keys) => Array.isArray(keys));
  const fixed = fixedAxes(pipeline, shared);
  return { kept, shared, isSingle: !isList && (source.each ?? []).every((axis) => fixed.has(axis)) };
}
