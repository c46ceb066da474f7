import { axesOfStep, axisKey } from '@sluice/core';
import type { RunFacts } from '../facts/run-facts.ts';
import type { GridStep } from './grid-step.ts';

/** The steps of a run with `each`, with the cells that are known now. */
export function gridSteps({ plan, cells }: Pick<RunFacts, 'plan' | 'cells'>): readonly GridStep[] {
  return plan.steps.flatMap(({ index, step }): GridStep[] => {
    if (step.each === undefined) return [];
    const known = cells[index] ?? [];
    return [
      {
        step: index,
        each: step.each,
        axes: axesOfStep(plan.pipeline, step),
        cellCount: known.length,
        nameOf: (cell) => known[cell]!.key,
        keyOf: (cell, axis) => axisKey(plan, known[cell]!, axis),
      },
    ];
  });
}
