import { listedAxis, listingStep } from '../axes/listed-axes.ts';
import { eachTemplate } from '../expressions/each-template.ts';
import { compileTemplate } from '../expressions/template.ts';
import { own } from '../model/own.ts';
import type { Input, NeedCondition, Pipeline, Step } from '../model/pipeline.ts';
import type { Plan, PlannedDependency, PlannedStep } from '../model/plan.ts';
import { allSteps } from './all-steps.ts';

/** The aspects of other steps that a step's expressions read, by step. */
type StepReferences = ReadonlyMap<string, ReadonlySet<string>>;

function referencedSteps(step: Step): StepReferences {
  const found = new Map<string, Set<string>>();
  eachTemplate(step, (template) => {
    const compiled = compileTemplate(template);
    if (!compiled.ok) return;
    for (const { root, keys } of compiled.value.references) {
      const [name, aspect = ''] = keys;
      if (root !== 'steps' || name === undefined) continue;
      found.set(name, (found.get(name) ?? new Set()).add(aspect));
    }
  });
  return found;
}

/**
 * The condition of a dependency by expressions: values require success, `status`, `reason` and `reused` only an end, and
 * the URL of a port a running step.
 */
function conditionOf(aspects: ReadonlySet<string>): NeedCondition {
  let condition: NeedCondition | undefined;
  for (const aspect of aspects) condition = stronger(condition, own(CONDITIONS, aspect) ?? 'succeeded');
  return condition ?? 'succeeded';
}

const CONDITIONS: Readonly<Record<string, NeedCondition>> = {
  status: 'completed',
  reason: 'completed',
  reused: 'completed',
  ports: 'running',
};

function stronger(before: NeedCondition | undefined, now: NeedCondition): NeedCondition {
  return before === undefined || before === 'completed' || now === 'succeeded' ? now : before;
}

/**
 * The edges of a pipeline by index into `allSteps`; unknown names are omitted. A condition in `needs` overrides those
 * of expressions; a data edge requires success.
 */
export function collectDependencies(pipeline: Pipeline): readonly (readonly PlannedDependency[])[] {
  const known = REMEMBERED.get(pipeline);
  if (known !== undefined) return known;
  const steps = allSteps(pipeline);
  const index = new Map<string, number>();
  for (let at = 0; at < steps.length; at++) index.set(steps[at]?.name ?? '', at);
  const dependencies = steps.map((step) => {
    const axis = listedAxis(pipeline, step);
    const list = axis === undefined ? undefined : listingStep(pipeline, axis);
    return dependenciesOf(step, { index, list: list && index.get(list.name) });
  });
  REMEMBERED.set(pipeline, dependencies);
  return dependencies;
}

/** Memoized, because checks and plan both need them and pipelines never change. */
const REMEMBERED = new WeakMap<Pipeline, readonly (readonly PlannedDependency[])[]>();
const MANY = 32;
const NONE: readonly PlannedDependency[] = Object.freeze([]);

/** `list`: the step whose results list the cells of this one. */
function dependenciesOf(
  step: Step,
  { index, list }: { readonly index: ReadonlyMap<string, number>; readonly list: number | undefined },
): readonly PlannedDependency[] {
  const found: PlannedDependency[] = [];
  let places: Map<number, number> | undefined;
  const placeOf = (on: number): number => {
    // Linear search is faster for a few entries.
    if (found.length < MANY) return found.findIndex((entry) => entry.on === on);
    places ??= new Map(found.map((entry, at) => [entry.on, at]));
    return places.get(on) ?? -1;
  };
  const add = (name: string, condition: NeedCondition, data: boolean): void => {
    const on = index.get(name);
    if (on === undefined) return;
    const at = placeOf(on);
    const entry = found[at];
    if (entry === undefined) {
      places?.set(on, found.length);
      found.push({ on, condition, data });
    } else if (data && !entry.data) found[at] = { on, condition: entry.condition, data: true };
  };
  for (const need of step.needs) add(need.step, need.condition, false);
  const special: PlannedDependency[] = [];
  for (const name in step.inputs) {
    const input = step.inputs[name]!;
    if (!('step' in input.from)) continue;
    if (!hasRules(input)) add(input.from.step, 'succeeded', true);
    else {
      for (const on of new Set([input.from, ...(input.or ?? [])].map((source) => index.get(source.step)))) {
        if (on !== undefined) special.push({ on, condition: 'succeeded', data: true, input: name });
      }
    }
  }
  for (const [name, aspects] of referencedSteps(step)) add(name, conditionOf(aspects), false);
  if (list !== undefined) {
    const at = placeOf(list);
    if (at < 0) found.push({ on: list, condition: 'succeeded', data: false });
    else found[at] = { ...found[at]!, condition: 'succeeded' };
  }
  found.push(...special);
  if (found.length === 0) return NONE;
  return found.length === 1 ? found : found.sort((a, b) => a.on - b.on);
}

/** Whether an input says more than its source: it has an edge of its own. */
function hasRules({ or, where, all, optional }: Input): boolean {
  return or !== undefined || where !== undefined || all !== undefined || optional === true;
}

/** The aspects of a step that expressions read as values, which identify themselves. */
const VALUES: ReadonlySet<string> = new Set(['results', 'outputs']);

/**
 * The dependencies of a step that neither the content of an input nor the value of an expression identifies: those in
 * `needs`, services, and steps whose end an expression reads.
 */
export function orderDependencies({ step, dependencies }: PlannedStep, { steps }: Plan): readonly PlannedStep[] {
  const others = dependencies.filter(({ data }) => !data);
  if (others.length === 0) return [];
  const needed = new Set(step.needs.map((need) => need.step));
  const referenced = referencedSteps(step);
  return others
    .map(({ on }) => steps[on]!)
    .filter(({ step: { name } }) => {
      // The list of a step identifies itself by the names of its cells.
      if (!needed.has(name) && !referenced.has(name)) return false;
      const aspects = needed.has(name) ? [] : [...(referenced.get(name) ?? [])];
      return aspects.length === 0 || !aspects.every((aspect) => VALUES.has(aspect));
    });
}
