import type { FailureClass } from '@sluice/core';
import { hasSucceeded, type SuccessSource } from '../facts/has-succeeded.ts';
import { cellIsOutOfMemory, stepIsOutOfMemory } from '../facts/out-of-memory.ts';
import { stepReason } from '../facts/step-status.ts';
import type { CellState } from '../scheduler/model/cell-state.ts';

/** The statuses of steps and cells in reports, events and JSON, from the first to the last that a cell can have. */
export const CELL_STATUSES = [
  'waiting',
  'ready',
  'awaitingApproval',
  'submitting',
  'pending',
  'running',
  'publishing',
  'succeeded',
  'failed',
  'skipped',
  'canceled',
] as const;

/** One of `CELL_STATUSES`. */
export type CellStatus = (typeof CELL_STATUSES)[number];

/** The status of a cell or a step. A step with cells has the worst status of its cells. */
export interface StatusReport {
  readonly status: CellStatus;
  /** Present if outputs and results are those of an earlier run; the status is then `succeeded`. */
  readonly reused?: true;
  /** Why it failed; present exactly if the status is `failed`. */
  readonly reason?: FailureClass;
}

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
export function cellStatus(source: SuccessSource, step: number, cell: number): StatusReport {
  hasSucceeded(source, step, cell);
  return describeState(source.scheduler.state(step, cell), () => cellIsOutOfMemory(source, step, cell));
}

/** The present status of a step. */
export function wholeStatus(source: SuccessSource, step: number): StatusReport {
  return describeState(source.scheduler.state(step), () => stepIsOutOfMemory(source, step));
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
