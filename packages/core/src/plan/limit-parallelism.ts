import type { Plan } from '../model/plan.ts';

/** The plan with the lower of its own limit and this one; unchanged without one. */
export function limitParallelism(plan: Plan, parallelism: number | undefined): Plan {
  if (parallelism === undefined) return plan;
  const lower = Math.max(1, Math.min(parallelism, plan.pipeline.parallelism ?? parallelism));
  return { ...plan, pipeline: { ...plan.pipeline, parallelism: lower } };
}
