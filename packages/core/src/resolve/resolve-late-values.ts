import type { KeyValues } from '../axes/cell-values.ts';
import { evaluateLateValues, hasLateValues } from '../axes/late-values.ts';
import type { Cell, Plan } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { RunContext } from '../model/run-context.ts';
import { expressionContext } from './expression-context.ts';

/** Cells that are decided together, and the number of the first one. */
export interface DecidedCells {
  readonly cells: readonly Cell[];
  readonly first: number;
}

/** Of each cell, the values that are known only now; undefined if the step has none. The error names the cell. */
export function resolveLateValues(
  plan: Plan,
  step: number,
  { cells, first, context }: DecidedCells & { readonly context: RunContext },
): Result<readonly KeyValues[] | undefined, string> {
  if (!hasLateValues(plan, step)) return ok(undefined);
  const all: KeyValues[] = [];
  for (const [index, cell] of cells.entries()) {
    const contextFor = expressionContext(plan, context, { step, cell });
    const values = evaluateLateValues(plan, { step, cell: first + index }, contextFor);
    const name = `step \`${plan.steps[step]!.step.name}\`${cell.key === '' ? '' : `, cell ${cell.key}`}`;
    if (!values.ok) return fail(`${name}: ${values.error}`);
    all.push(values.value);
  }
  return ok(all);
}
