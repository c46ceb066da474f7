import { axesOfStep, axisKey } from '@sluice/core';
import { cellsInOrder } from '../facts/listed-cells.ts';
import type { RunFacts } from '../facts/run-facts.ts';
import type { GridStep } from './grid-step.ts';

/** The steps of a run with `each`, with the cells that are known now. */
export function gridSteps(facts: Pick<RunFacts, 'plan' | 'cells' | 'batches'>): readonly GridStep[] {
  const { plan, cells } = facts;
  return plan.steps.flatMap(({ index, step }): GridStep[] => {
    if (step.each === undefined) return [];
    const known = cells[index] ?? [];
    return [
      {
        step: index,
        each: step.each,
        axes: axesOfStep(plan.pipeline, step),
        get cells() {
          return cellsInOrder(facts, index);
        },
        nameOf: (cell) => known[cell]!.key,
        keyOf: (cell, axis) => axisKey(plan, known[cell]!, axis),
      },
    ];
  });
}
