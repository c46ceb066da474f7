import { type CellValues, hasLateValues, type KeyValues, valuesOfCell, withLateValues } from '@sluice/core';
import { cellsBehind } from './gates.ts';
import type { RunState } from './run-state.ts';

/** The limits, priority, resources and retries of a cell; as far as the plan knows them, until the cell is decided. */
export function valuesOf(run: Pick<RunState, 'plan' | 'lateValues'>, step: number, cell: number): CellValues {
  return run.lateValues.get(step)?.[cell] ?? valuesOfCell(run.plan, step, cell);
}

/** Sets the values of decided cells that the plan does not know. Throws if they are not those that the step has. */
export function setLateValues(
  run: RunState,
  { step, cell }: { readonly step: number; readonly cell: number },
  values: readonly KeyValues[] = [],
): void {
  const { first, end } = cellsBehind(run, step, cell);
  const expected = hasLateValues(run.plan, step) ? end - first : 0;
  if (values.length !== expected)
    throw new Error(
      `cannot decide step ${step}: values of ${values.length} cells are given, and ${expected} have some`,
    );
  if (expected === 0) return;
  const known = run.lateValues.get(step) ?? [];
  for (const [index, late] of values.entries())
    known[first + index] = withLateValues(run.plan, { step, cell: first + index }, late);
  run.lateValues.set(step, known);
}
