import { hasSucceeded, type SuccessSource } from '../facts/has-succeeded.ts';
import { cellIsOutOfMemory, stepIsOutOfMemory } from '../facts/out-of-memory.ts';
import { stepReason } from '../facts/step-status.ts';
import { type CellState, TERMINAL_CELL_STATES } from '../scheduler/model/cell-state.ts';
import { worstState } from '../scheduler/model/worst-state.ts';
import type { StatusReport } from '../schemas/status.ts';
import type { CellStatus } from '../schemas/statuses.ts';

/** Translates a state of the scheduler, which has no state of its own for a lack of memory. */
export function describeState(state: CellState, isOutOfMemory: () => boolean): StatusReport {
  const reason = stepReason(state, isOutOfMemory);
  return {
    status: STATUSES[state],
    ...(state === 'cached' && { reused: true }),
    ...(reason !== '' && { reason }),
  };
}

/** The present status of a cell. Throws for a success that the run has no record of. */
export function statusOfCell(source: SuccessSource, step: number, cell: number): StatusReport {
  hasSucceeded(source, step, cell);
  return describeState(source.scheduler.state(step, cell), () => cellIsOutOfMemory(source, step, cell));
}

/** The present status of a step. */
export function statusOfStep(source: SuccessSource, step: number): StatusReport {
  return describeState(source.scheduler.state(step), () => stepIsOutOfMemory(source, step));
}

/** The present status of some cells of a step together: one that has not ended, otherwise the worst end. */
export function statusOfCells(
  source: SuccessSource,
  { step, cells }: { readonly step: number; readonly cells: readonly number[] },
): StatusReport {
  const states = new Set(cells.map((cell) => source.scheduler.state(step, cell)));
  const open = [...states].find((state) => !TERMINAL_CELL_STATES.has(state));
  const isOutOfMemory = () => cells.some((cell) => cellIsOutOfMemory(source, step, cell));
  return describeState(open ?? worstState((state) => states.has(state)), isOutOfMemory);
}

const STATUSES: Readonly<Record<CellState, CellStatus>> = {
  waiting: 'waiting',
  ready: 'ready',
  checking: 'ready',
  backingOff: 'ready',
  awaitingApproval: 'awaitingApproval',
  submitting: 'submitting',
  pending: 'pending',
  running: 'running',
  publishing: 'publishing',
  succeeded: 'succeeded',
  cached: 'succeeded',
  failed: 'failed',
  errored: 'failed',
  timedOut: 'failed',
  skipped: 'skipped',
  canceled: 'canceled',
};
