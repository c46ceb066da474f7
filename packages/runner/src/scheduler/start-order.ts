import type { Plan } from '@sluice/core';
import type { PlanIndex } from './plan-index.ts';
import type { SchedulerOptions } from './scheduler.ts';

/**
 * For each step, the longest way from its start to the end of the run: its own duration and that of the dependents
 * after it. Without durations from earlier runs each step counts 1; a step without one among known ones counts their mean.
 */
export function remainingPaths(
  plan: Plan,
  edges: Pick<PlanIndex, 'edgeStart' | 'edgeTo' | 'dependencyCount'>,
  options: SchedulerOptions,
): Float64Array {
  const count = plan.steps.length;
  const weight = stepWeights(plan, options);
  const order = topologicalOrder(count, edges);
  const path = weight;
  for (let i = count - 1; i >= 0; i--) {
    const step = order[i]!;
    let longest = 0;
    for (let edge = edges.edgeStart[step]!; edge < edges.edgeStart[step + 1]!; edge++) {
      const after = path[edges.edgeTo[edge]!]!;
      if (after > longest) longest = after;
    }
    path[step]! += longest;
  }
  return path;
}

function stepWeights(plan: Plan, { durations }: SchedulerOptions): Float64Array {
  const weight = new Float64Array(plan.steps.length).fill(1);
  if (durations === undefined) return weight;
  let sum = 0;
  let known = 0;
  for (const { index, step } of plan.steps) {
    const duration = durations(step.name);
    weight[index] = duration ?? -1;
    if (duration === undefined) continue;
    sum += duration;
    known++;
  }
  const mean = known === 0 ? 1 : sum / known;
  for (let i = 0; i < weight.length; i++) if (weight[i]! < 0) weight[i] = mean;
  return weight;
}

/** Kahn's order. A cycle, which core refuses, leaves zeros at the end; the ranks are then wrong and the run gets stuck. */
function topologicalOrder(
  count: number,
  edges: Pick<PlanIndex, 'edgeStart' | 'edgeTo' | 'dependencyCount'>,
): Int32Array {
  const open = edges.dependencyCount.slice();
  const order = new Int32Array(count);
  let tail = 0;
  for (let step = 0; step < count; step++) if (open[step] === 0) order[tail++] = step;
  for (let head = 0; head < tail; head++) {
    const step = order[head]!;
    for (let edge = edges.edgeStart[step]!; edge < edges.edgeStart[step + 1]!; edge++) {
      const dependent = edges.edgeTo[edge]!;
      if (--open[dependent]! === 0) order[tail++] = dependent;
    }
  }
  return order;
}

/** The order in which ready steps start: priority, then the longest remaining path, then the file's order. */
export function startOrder(plan: Plan, paths: Float64Array): { position: Int32Array; stepAt: Int32Array } {
  const { steps } = plan;
  const stepAt = new Int32Array(steps.length);
  for (let i = 0; i < stepAt.length; i++) stepAt[i] = i;
  stepAt.sort((a, b) => steps[b]!.step.priority - steps[a]!.step.priority || paths[b]! - paths[a]! || a - b);
  const position = new Int32Array(steps.length);
  for (let i = 0; i < stepAt.length; i++) position[stepAt[i]!] = i;
  return { position, stepAt };
}
