import type { Plan } from '@sluice/core';
import { firstCluster, type RunPlacement } from '@sluice/run';

const NAMED = 3;

/** One sentence for each other cluster on which steps run although the file has no placement for them. */
export function describeMoves(plan: Plan, placement: RunPlacement | undefined, home: string): readonly string[] {
  if (placement === undefined) return [];
  const moved = new Map<string, string[]>();
  for (const { index, step } of plan.steps) {
    if (step.placement ?? step.perCell?.placement ?? plan.pipeline.placement) continue;
    // Without a placement, the cells of a step have the same clusters.
    const cluster = firstCluster({ placement, home: { clusterID: home } }, { step: index, cell: 0 });
    if (cluster === home) continue;
    const steps = moved.get(cluster) ?? [];
    steps.push(step.name);
    moved.set(cluster, steps);
  }
  return [...moved].map(([cluster, steps]) => {
    const more = steps.length > NAMED ? ` and ${steps.length - NAMED} more` : '';
    const noun = steps.length === 1 ? 'step' : 'steps';
    const verb = steps.length === 1 ? 'runs' : 'run';
    return `${noun} ${steps.slice(0, NAMED).join(', ')}${more} ${verb} on cluster ${cluster}: no instance type of cluster ${home} fits`;
  });
}
