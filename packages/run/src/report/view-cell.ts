import type { RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { CellView } from '../schemas/cell.ts';
import { cellValuesOf } from './cell-values-of.ts';
import { spanOfCell } from './durations.ts';
import { explainCell } from './explain-cell.ts';
import { exposedPorts } from './exposed-ports.ts';
import { omitUnknown } from './omit-unknown.ts';
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
  const { axes, matrix, item } = cellValuesOf(facts, step, cell);
  const { status, reused, reason } = statusOfCell(run, step, cell);
  return omitUnknown<CellView>({
    cell: facts.cells[step]?.[cell]?.key ?? '',
    axes,
    matrix,
    item,
    status,
    reused,
    reason,
    attempt: last?.attempt ?? 0,
    beganAt: spanOfCell(known).beganAt,
    containerId: last?.id,
    clusterId: last?.clusterID,
    instanceType: last?.instanceType,
    submittedAt: last?.submittedAt,
    runningAt: last?.runningAt,
    endedAt: last?.endedAt,
    message: explainCell(run, step, cell),
    ports: exposedPorts(run, step, cell).ports,
    results: known?.results ?? {},
    reusedFrom: known?.cached?.runId,
  });
}
