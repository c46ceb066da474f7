import { renderDuration } from '@sluice/core';
import { describeStatus, type StepReport, spanMs, spanOfAll } from '@sluice/run';

/** The columns of `describeSteps`. */
export const STEP_COLUMNS = ['STEP', 'STATUS', 'TOOK', 'ATTEMPTS', 'WHY'] as const;

/** One row for each step, with its cells counted by status. */
export function describeSteps(steps: readonly StepReport[]): readonly (readonly string[])[] {
  return steps.map((step) => {
    const took = spanMs(spanOfAll(step.cells));
    const why = step.cells.find((cell) => cell.message !== undefined && cell.status !== 'succeeded')?.message ?? '';
    const attempts = step.cells.reduce((sum, cell) => sum + cell.attempt, 0);
    return [step.step, statusText(step), took === undefined ? '-' : renderDuration(took), String(attempts), why];
  });
}

function statusText(step: StepReport): string {
  const { cells } = step;
  if (cells.length <= 1) return describeStatus(step);
  const counts = new Map<string, number>();
  for (const words of cells.map(describeStatus)) counts.set(words, (counts.get(words) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}
