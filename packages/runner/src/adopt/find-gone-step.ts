import type { Plan } from '@sluice/core';

/**
 * A step that must have succeeded, since a container of a dependent was started, but of which the service knows no
 * container any more: adopting the run would start it again. Steps that need not have had a container are left out.
 */
export function findGoneStep(plan: Plan, seen: ReadonlySet<string>): string | undefined {
  const mustBeThere = new Set<number>();
  const open = plan.steps.filter(({ step }) => seen.has(step.name)).map(({ index }) => index);
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    for (const { on, condition } of plan.steps[index]!.dependencies) {
      if (condition !== 'succeeded' || mustBeThere.has(on)) continue;
      mustBeThere.add(on);
      open.push(on);
    }
  }
  const gone = plan.steps.find(({ index, step, cells }) => {
    const hadContainer = step.cache === undefined && step.when === undefined && step.approval === undefined;
    return mustBeThere.has(index) && hadContainer && (cells?.length ?? 0) > 0 && !seen.has(step.name);
  });
  return gone?.step.name;
}
