import { toCel } from '../expressions/cel-values.ts';
import { compileTemplate } from '../expressions/template.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { own } from '../model/own.ts';
import type { Resources, Step } from '../model/pipeline.ts';
import type { Cell, Plan, PlannedStep } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { fixedContext } from '../plan/fixed-context.ts';
import { showJson } from '../render/show-json.ts';
import { type CellKey, cellKeys } from './cell-keys.ts';
import { itemsOf } from './items-of.ts';

/** What can be different for each cell of a step. */
export type CellValues = Pick<Step, 'timeoutMs' | 'queueTimeoutMs' | 'deadlineMs' | 'priority' | 'resources' | 'retry'>;

/**
 * The values of one cell, or of the whole step if they have no expressions. A `foreach` step, whose cells are unknown, has
 * the same for all. Throws if they cannot be evaluated, which `createPlan` excludes.
 */
export function valuesOfCell(plan: Plan, step: number, cell: number): CellValues {
  const planned = plan.steps[step]!;
  if (planned.step.perCell === undefined) return planned.step;
  const all = evaluateStep(plan, planned);
  if (!all.ok) throw new Error(`step ${planned.step.name}${all.error}`);
  return all.value[cell] ?? all.value[0] ?? planned.step;
}

/** The different requests of the cells of a step. */
export function resourcesOfCells(plan: Plan, step: number): readonly Resources[] {
  return distinctOfCells(plan, step, { key: 'resources', pick: ({ resources = {} }) => resources });
}

/** The different levels of `retry.escalate` that the cells of a step have. */
export function escalationOfCells(plan: Plan, step: number): readonly (string | Resources)[] {
  return distinctOfCells(plan, step, { key: 'retry', pick: ({ retry }) => retry.escalate }).flat();
}

/** The most attempts that a cell of a step can have. */
export function mostAttempts(plan: Plan, step: number): number {
  const attempts = ({ retry }: CellValues): number => 1 + retry.limit + retry.infrastructure;
  return Math.max(...distinctOfCells(plan, step, { key: 'retry', pick: attempts }));
}

function distinctOfCells<T>(
  plan: Plan,
  step: number,
  { key, pick }: { readonly key: 'resources' | 'retry'; readonly pick: (values: CellValues) => T },
): readonly T[] {
  const { step: declared, cells = [] } = plan.steps[step]!;
  if (declared.perCell?.[key] === undefined) return [pick(declared)];
  const found = new Map<string, T>();
  for (let cell = 0; cell < Math.max(1, cells.length); cell++) {
    const value = pick(valuesOfCell(plan, step, cell));
    found.set(JSON.stringify(value), value);
  }
  return [...found.values()];
}

/** A fault for each step of which the values of a cell cannot be evaluated. */
export function findValueFaults(plan: Plan): readonly Diagnostic[] {
  return plan.steps.flatMap((planned): readonly Diagnostic[] => {
    const evaluated = planned.step.perCell === undefined ? undefined : evaluateStep(plan, planned);
    if (evaluated === undefined || evaluated.ok) return [];
    const message = `step \`${planned.step.name}\`${evaluated.error}`;
    return [{ code: 'wrong-value', severity: 'error', message }];
  });
}

const REMEMBERED = new WeakMap<Plan, Map<number, Result<readonly CellValues[], string>>>();

function evaluateStep(plan: Plan, planned: PlannedStep): Result<readonly CellValues[], string> {
  const ofPlan = REMEMBERED.get(plan) ?? new Map<number, Result<readonly CellValues[], string>>();
  REMEMBERED.set(plan, ofPlan);
  const values = ofPlan.get(planned.index) ?? evaluateCells(plan, planned);
  ofPlan.set(planned.index, values);
  return values;
}

const ANY_CELL: readonly Cell[] = [{ key: '', matrix: {} }];

function evaluateCells(plan: Plan, { step, cells = ANY_CELL }: PlannedStep): Result<readonly CellValues[], string> {
  const keys = cellKeys(step.perCell ?? {}).map((key) => ({ ...key, compiled: compileTemplate(key.template) }));
  const fixed = fixedContext(plan);
  const all: CellValues[] = [];
  for (const cell of cells) {
    const each = { each: itemsOf(plan.axes ?? {}, cell), matrix: toCel(cell.matrix, cell.doubles?.matrix) };
    const values = evaluateCell(step, keys, { ...fixed, ...each });
    if (!values.ok) return fail(`${cell.key === '' ? '' : `, cell ${cell.key}`}: ${values.error}`);
    all.push(values.value);
  }
  return ok(all);
}

function evaluateCell(
  step: Step,
  keys: readonly (CellKey & { readonly compiled: ReturnType<typeof compileTemplate> })[],
  context: Readonly<Record<string, unknown>>,
): Result<CellValues, string> {
  let values = fixedValues(step);
  for (const { name, compiled, target, read } of keys) {
    const value = compiled.ok ? compiled.value.evaluate(context) : fail(compiled.error.message);
    if (!value.ok) return fail(`\`${name}\` cannot be evaluated: ${value.error}`);
    const found = read(value.value);
    if (!found.ok) return fail(`\`${name}\` yields ${showJson(value.value)}, ${found.error}`);
    values = withValue(values, target, found.value) as CellValues;
  }
  const conflict = findConflict(values);
  return conflict === undefined ? ok(values) : fail(conflict);
}

/** What the cells of a step have in common. */
function fixedValues({ timeoutMs, queueTimeoutMs, deadlineMs, priority, resources, retry }: Step): CellValues {
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(queueTimeoutMs !== undefined && { queueTimeoutMs }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(resources && { resources }),
    ...{ priority, retry },
  };
}

/** A copy with a value at a path. */
function withValue(before: unknown, [key, ...inner]: CellKey['target'], value: number | string): unknown {
  if (key === undefined) return value;
  if (Array.isArray(before)) return before.map((one, at) => (at === key ? withValue(one, inner, value) : one));
  const known = (before ?? {}) as Readonly<Record<string, unknown>>;
  return { ...known, [key]: withValue(own(known, String(key)), inner, value) };
}

function findConflict({ timeoutMs, deadlineMs, retry: { backoff } }: CellValues): string | undefined {
  if (deadlineMs !== undefined && timeoutMs !== undefined && deadlineMs < timeoutMs)
    return '`deadline` (for all attempts together) is shorter than `timeout` (for one attempt)';
  return backoff.maxMs < backoff.initialMs ? '`retry.backoff` has a `max` below its `initial`' : undefined;
}
