import { type Plan, planGraph, type StepEdge, selectSteps } from '@sluice/core';

/**
 * A step that must have succeeded, because a container of a dependent was started, but whose container the service does
 * not have: adopting the run would start it again. Steps that may never have had a container are left out.
 */
export function findGoneStep(plan: Plan, seen: ReadonlySet<string>): string | undefined {
  const started = plan.steps.map(({ step }) => step.name).filter((name) => seen.has(name));
  const along = ({ condition }: StepEdge): boolean => condition === 'succeeded';
  const mustBeThere = new Set(selectSteps(planGraph(plan), started, { direction: 'ancestors', along }));
  const gone = plan.steps.find(({ step, cells }) => {
    const hadContainer = step.cache === undefined && step.when === undefined && step.approval === undefined;
    return mustBeThere.has(step.name) && hadContainer && (cells?.length ?? 0) > 0 && !seen.has(step.name);
  });
  return gone?.step.name;
}
