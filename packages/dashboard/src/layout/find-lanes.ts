import type { PlanSteps } from './plan-shape.ts';

/**
 * The chains of steps with the same axes, each with at least two steps in order. A step is in one chain at most: it follows
 * a step if each is the only one with these axes next to the other.
 */
export function findLanes(steps: PlanSteps): readonly (readonly number[])[] {
  const axes = steps.map(({ each }) => each?.toSorted().join());
  const before = steps.map(({ dependencies }, step) =>
    axes[step] === undefined ? [] : [...new Set(dependencies)].filter((on) => axes[on] === axes[step]),
  );
  const followers = steps.map((): number[] => []);
  for (const [step, found] of before.entries()) for (const on of found) followers[on]!.push(step);
  const nextOf = (step: number): number | undefined => {
    const [next, other] = followers[step]!;
    return next !== undefined && other === undefined && before[next]!.length === 1 ? next : undefined;
  };
  const isLater = new Set(steps.flatMap((_, step) => nextOf(step) ?? []));
  return steps.flatMap((_, first) => {
    if (isLater.has(first)) return [];
    const lane: number[] = [];
    for (let step: number | undefined = first; step !== undefined; step = nextOf(step)) lane.push(step);
    return lane.length > 1 ? [lane] : [];
  });
}
