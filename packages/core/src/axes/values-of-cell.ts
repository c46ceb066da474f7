import { toCel } from '../expressions/cel-values.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { own } from '../model/own.ts';
import type { Resources, Retry } from '../model/pipeline.ts';
import type { Cell, Plan, PlannedStep } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { fixedContext } from '../plan/fixed-context.ts';
import { type CellValues, evaluateKeys, findConflict, fixedValues, withKeyValues } from './cell-values.ts';
import { itemsOf } from './items-of.ts';
import { splitKeys } from './split-keys.ts';

/**
 * The values of one cell as far as the plan knows them, without those of `hasLateValues`. A `foreach` step, whose cells are
 * unknown, has the same for all. Throws if they cannot be evaluated, which `createPlan` excludes.
 */
export function valuesOfCell(plan: Plan, step: number, cell: number): CellValues {
  const planned = plan.steps[step]!;
  if (planned.step.perCell === undefined) return planned.step;
  const all = evaluateStep(plan, planned);
  if (!all.ok) throw new Error(`step ${planned.step.name}${all.error}`);
  return all.value[cell] ?? all.value[0] ?? planned.step;
}

/** Cells of a step; all of them if `cells` is absent. */
export interface CellsOfStep {
  readonly step: number;
  readonly cells?: readonly number[] | undefined;
}

/** The different requests of some cells, as far as the plan knows them. */
export function resourcesOfCells(plan: Plan, of: CellsOfStep): readonly Resources[] {
  return distinctOfCells(plan, of, { key: 'resources', pick: ({ resources = {} }) => resources });
}

/** The different levels of `retry.escalate` that some cells have, as far as the plan knows them. */
export function escalationOfCells(plan: Plan, of: CellsOfStep): readonly (string | Resources)[] {
  return distinctOfCells(plan, of, { key: 'retry', pick: ({ retry }) => retry.escalate }).flat();
}

/** The different `retry` of the cells of a step; undefined if the plan does not know all of them. */
export function retriesOfCells(plan: Plan, step: number): readonly Retry[] | undefined {
  if (splitKeys(plan.pipeline, plan.steps[step]!.step).late.some(({ path }) => path[0] === 'retry')) return undefined;
  return distinctOfCells(plan, { step }, { key: 'retry', pick: ({ retry }) => retry });
}

function distinctOfCells<T>(
  plan: Plan,
  { step, cells }: CellsOfStep,
  { key, pick }: { readonly key: 'resources' | 'retry'; readonly pick: (values: CellValues) => T },
): readonly T[] {
  const { step: declared, cells: all = [] } = plan.steps[step]!;
  if (declared.perCell?.[key] === undefined) return [pick(declared)];
  const found = new Map<string, T>();
  for (const cell of cells ?? Array(Math.max(1, all.length)).keys()) {
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
  const { early, late } = splitKeys(plan.pipeline, step);
  const fixed = fixedContext(plan);
  const all: CellValues[] = [];
  for (const cell of cells) {
    const each = { each: itemsOf(plan.axes ?? {}, cell), matrix: toCel(cell.matrix, cell.doubles?.matrix) };
    const found = evaluateKeys(early, () => ({ ...each, ...fixed }));
    const values = found.ok ? withKeyValues(fixedValues(step), early, found.value) : undefined;
    // Values that are not known yet can make a conflict, and can avoid it.
    const conflict = values === undefined || late.length > 0 ? undefined : findConflict(values);
    const shortage = values && findPoolShortage(plan, values.pools);
    const fault = found.ok ? (conflict ?? shortage) : found.error;
    if (fault !== undefined) return fail(`${cell.key === '' ? '' : `, cell ${cell.key}`}: ${fault}`);
    all.push(values!);
  }
  return ok(all);
}

function findPoolShortage({ pipeline }: Plan, pools: CellValues['pools']): string | undefined {
  const short = Object.entries(pools).find(([name, amount]) => amount > (own(pipeline.pools, name) ?? 0));
  if (short === undefined) return undefined;
  const [name, amount] = short;
  return `it can never start: it needs ${amount} slots of pool \`${name}\`, which has ${own(pipeline.pools, name) ?? 0}`;
}
