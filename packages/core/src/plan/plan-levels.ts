import type { Plan } from '../model/plan.ts';

/** Longest distance from a step without dependencies, by step index; 0 for such a step. */
export function planLevels(plan: Plan): readonly number[] {
  return plan.steps.map(() => 0);
}
