import { own } from '../model/own.ts';
import type { Plan } from '../model/plan.ts';
import { fail, type Result } from '../model/result.ts';
import type { ContextFor } from '../resolve/evaluate.ts';
import { type CellValues, evaluateKeys, findConflict, type KeyValues, withKeyValues } from './cell-values.ts';
import { splitKeys } from './split-keys.ts';
import { valuesOfCell } from './values-of-cell.ts';

interface CellPlace {
  readonly step: number;
  readonly cell: number;
}

/** The keys of a step, such as `resources.memory`, whose values are known only when a cell is decided: they use results or listed items. */
export function lateKeys({ pipeline, steps }: Plan, step: number): readonly string[] {
  return splitKeys(pipeline, steps[step]!.step).late.map(({ name }) => name);
}

/** Whether a step has such keys. */
export function hasLateValues({ pipeline, steps }: Plan, step: number): boolean {
  return splitKeys(pipeline, steps[step]!.step).late.length > 0;
}

/** Evaluates the values of a cell that are known only now. The error is for the user, and names the key. */
export function evaluateLateValues(plan: Plan, place: CellPlace, contextFor: ContextFor): Result<KeyValues, string> {
  const values = evaluateKeys(splitKeys(plan.pipeline, plan.steps[place.step]!.step).late, contextFor);
  const conflict = values.ok ? findConflict(withLateValues(plan, place, values.value)) : undefined;
  return conflict === undefined ? values : fail(conflict);
}

/**
 * All values of a cell, of which `late` has been evaluated when it was decided. Throws if these are not those that the step
 * has.
 */
export function withLateValues(plan: Plan, { step, cell }: CellPlace, late: KeyValues): CellValues {
  const { late: keys } = splitKeys(plan.pipeline, plan.steps[step]!.step);
  const isComplete = keys.every(({ name }) => ['number', 'string'].includes(typeof own(late, name)));
  if (!isComplete || Object.keys(late).length !== keys.length)
    throw new Error(`cannot use the values of cell ${cell} of step ${step}: it has others`);
  return withKeyValues(valuesOfCell(plan, step, cell), keys, late);
}
