import { describeUnknown, fail, ok, type Result } from '@sluice/core';
import { type ReplayedRun, type RunError, splitCellName, stepIndex } from '@sluice/run';

/** The step and the cell that `STEP` or `STEP/CELL` names in a run; no `cell`: the whole step. */
export function findCell(
  { runId, facts }: Pick<ReplayedRun, 'runId' | 'facts'>,
  name: string,
): Result<{ readonly step: number; readonly cell?: number }, RunError> {
  const { plan, cells } = facts;
  const { step: stepName, cell: key } = splitCellName(name);
  const step = stepIndex(plan, stepName);
  if (step === undefined) {
    const names = plan.steps.map((one) => one.step.name);
    return fail({ code: 'STEP_NOT_FOUND', message: `run ${runId} has no step ${describeUnknown(stepName, names)}` });
  }
  if (key === undefined) return ok({ step });
  const keys = (cells[step] ?? []).map((one) => one.key);
  const cell = keys.indexOf(key);
  if (cell >= 0) return ok({ step, cell });
  const named = keys.filter((one) => one !== '');
  const message = `step ${stepName} of run ${runId} has no cell ${describeUnknown(key, named)}`;
  return fail({ code: 'CELL_NOT_FOUND', message });
}
