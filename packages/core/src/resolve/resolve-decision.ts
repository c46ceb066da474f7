import type { Cell, Plan } from '../model/plan.ts';
import { fail, type Result } from '../model/result.ts';
import type { RunContext } from '../model/run-context.ts';

export interface Decision {
  /** False: `when` does not hold, the step is skipped. */
  readonly run: boolean;
  /** Of a `foreach` step that runs: its cells, possibly none. */
  readonly cells?: readonly Cell[];
}

/** Evaluates a step's `when` and `foreach`. The error says which could not be evaluated, and why. */
export function resolveDecision(plan: Plan, step: number, context: RunContext): Result<Decision, string> {
  return fail(`could not decide step ${step} of ${plan.pipeline.name} in ${context.run.id}`);
}
