import { createStepGraph, levelsOf } from '../graph/step-graph.ts';
import type { Plan } from '../model/plan.ts';

/** Longest distance from a step without dependencies, by step index; 0 for such a step. Edges of `finally` steps count as they stand. */
export function planLevels(plan: Plan): readonly number[] {
  return Array.from(levelsOf(createStepGraph(plan.steps.map((step) => step.dependencies))));
}
