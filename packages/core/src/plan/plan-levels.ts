import { createStepGraph, levelsOf } from '../graph/step-graph.ts';
import type { Plan } from '../model/plan.ts';

/**
 * By step index: the longest distance from a step without dependencies, 0 for such a step. Steps of `finally` count
 * only their explicit edges.
 */
export function planLevels(plan: Plan): readonly number[] {
  return Array.from(levelsOf(createStepGraph(plan.steps.map((step) => step.dependencies))));
}
