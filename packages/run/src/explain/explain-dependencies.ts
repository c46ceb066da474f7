import { isMatched, matchOf } from '@sluice/core';
import { cellsMeant } from '../facts/listed-cells.ts';
import type { ReplayedRun } from '../facts/replay-files.ts';
import { statusOfCell, statusOfCells, statusOfStep } from '../report/status-of-cell.ts';
import type { DependencyExplanation } from '../schemas/explanation.ts';

/** What a cell depends on, with the present status of each: a step, or the cells of it that the cell means. */
export function explainDependencies(run: ReplayedRun, step: number, cell: number): DependencyExplanation[] {
  const { plan, cells } = run.facts;
  const reader = plan.steps[step]!;
  return reader.dependencies.map((dependency) => {
    const { on, condition, input } = dependency;
    const named = { step: plan.steps[on]!.step.name, condition, ...(input !== undefined && { input }) };
    if (!isMatched(reader, plan.steps[on]!)) return { ...named, ...statusOfStep(run, on) };
    const { isSingle } = matchOf(plan, reader, dependency);
    const meant = cellsMeant(run.facts, { step, cell }, dependency);
    const [only] = meant;
    if (isSingle && only !== undefined)
      return { ...named, cell: cells[on]![only]!.key, ...statusOfCell(run, on, only) };
    return { ...named, cellCount: meant.length, ...statusOfCells(run, { step: on, cells: meant }) };
  });
}
