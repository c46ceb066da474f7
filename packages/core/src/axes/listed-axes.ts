import { compileTemplate } from '../expressions/template.ts';
import { own } from '../model/own.ts';
import type { Axis, Pipeline, Step } from '../model/pipeline.ts';
import { allSteps } from '../plan/all-steps.ts';

/** The part of a pipeline that says which axes steps list. */
export type AxisSource = Pick<Pipeline, 'axes' | 'steps' | 'finally'>;

const NAMES = new WeakMap<Axis, readonly string[]>();

/** The steps whose results the items of an axis are computed from; empty for an axis that the plan knows. */
export function stepsOfItems(axis: Axis): readonly string[] {
  const known = NAMES.get(axis);
  if (known !== undefined) return known;
  const compiled = typeof axis.items === 'string' ? compileTemplate(axis.items) : undefined;
  const references = compiled?.ok ? compiled.value.references : [];
  const names = new Set(references.flatMap(({ root, keys: [name] }) => (root === 'steps' && name ? [name] : [])));
  NAMES.set(axis, [...names]);
  return [...names];
}

/** The step whose result is the list of an axis's items, one list for each of its cells; undefined for other axes. */
export function listingStep(source: AxisSource, axis: string): Step | undefined {
  const declared = own(source.axes ?? {}, axis);
  const [name] = declared === undefined ? [] : stepsOfItems(declared);
  return name === undefined ? undefined : allSteps(source).find((step) => step.name === name);
}

/** Whether a step lists the items of an axis. */
export function isListedAxis({ axes = {} }: Pick<Pipeline, 'axes'>, axis: string): boolean {
  const declared = own(axes, axis);
  return declared !== undefined && stepsOfItems(declared).length > 0;
}

/** The axis of a step whose items another step lists; a check permits one. */
export function listedAxis(pipeline: Pick<Pipeline, 'axes'>, { each = [] }: Pick<Step, 'each'>): string | undefined {
  return each.find((axis) => isListedAxis(pipeline, axis));
}

/** Axes in the order of names and directories: before a listed one those of the step that lists it, whose lists can have equal keys. */
export function namedAxes(source: AxisSource, each: readonly string[]): readonly string[] {
  const axis = listedAxis(source, { each });
  const before = axis === undefined ? undefined : listingStep(source, axis)?.each;
  if (before === undefined) return each;
  return [...new Set(each.flatMap((one) => (one === axis ? [...before, one] : [one])))];
}
