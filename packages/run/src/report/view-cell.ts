import type { AttemptFacts, RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { CellView } from '../schemas/cell.ts';
import { outlineAttempt } from './attempt-outline.ts';
import { cellValuesOf } from './cell-values-of.ts';
import { explainCell } from './explain-cell.ts';
import { exposedPorts } from './exposed-ports.ts';
import { statusOfCell } from './status-of-cell.ts';

/** A cell with the container of its last attempt; `step` and `cell` are indexes. */
export function viewCell(
  run: { readonly facts: RunFacts; readonly scheduler: Scheduler },
  step: number,
  cell: number,
): CellView {
  const { facts } = run;
  const known = facts.known[step]?.[cell];
  const last = known?.attempts.at(-1);
  const message = explainCell(run, step, cell);
  return {
    cell: facts.cells[step]?.[cell]?.key ?? '',
    ...cellValuesOf(facts, step, cell),
    ...statusOfCell(run, step, cell),
    attempt: last?.attempt ?? 0,
    ...(last && viewContainer(last)),
    ...(message !== undefined && { message }),
    ...exposedPorts(run, step, cell),
    results: known?.results ?? {},
    ...(known?.cached && { reusedFrom: known.cached.runId }),
  };
}

function viewContainer(attempt: AttemptFacts): Partial<CellView> {
  const { containerId, clusterId, instanceType, submittedAt, runningAt, endedAt } = outlineAttempt(attempt);
  return {
    ...(containerId !== undefined && { containerId }),
    ...(clusterId !== undefined && { clusterId }),
    ...(instanceType !== undefined && { instanceType }),
    ...(submittedAt !== undefined && { submittedAt }),
    ...(runningAt !== undefined && { runningAt }),
    ...(endedAt !== undefined && { endedAt }),
  };
}
