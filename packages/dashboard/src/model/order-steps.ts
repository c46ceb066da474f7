import type { RunDetails } from '@sluice/host';

/** The indexes of the steps in the order of the timeline: by their column in the graph. */
export function orderSteps(steps: RunDetails['plan']['steps']): number[] {
  return steps.map((_, step) => step).sort((a, b) => steps[a]!.level - steps[b]!.level || a - b);
}
