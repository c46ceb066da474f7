import type { PlanSteps } from '../layout/plan-shape.ts';
import { linkTo } from '../live/route.ts';
import type { RunModel } from '../model/run-model.ts';
import type { Selection } from '../parts/timeline-row.tsx';

/** The link of the screen of a step or cell. */
export function linkToSelection(runId: string, steps: PlanSteps, { step, cell }: Selection): string {
  const { step: name } = steps[step]!;
  return linkTo(['runs', runId, 'steps', name, ...(cell === undefined ? [] : ['cells', String(cell)])]);
}

/** A step with one cell is shown as that cell. */
export function soleCell(model: RunModel, step: number): number | undefined {
  return model.cells[step]!.length === 1 ? 0 : undefined;
}
