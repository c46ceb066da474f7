import type { CancelReason } from '../model/command.ts';
import type { RunState } from './run-state.ts';

/** The reasons as numbers from 1, in `CellTable.cancel`. */
const CANCEL_REASONS: readonly CancelReason[] = [
  'timeout',
  'queueTimeout',
  'deadline',
  'runTimeout',
  'canceled',
  'noLongerNeeded',
  'notReady',
  'pullTimeout',
];

/** Sets why the cancellation of the cell's attempt was requested; undefined for a new attempt. */
export function setCancelReason(run: RunState, id: number, reason: CancelReason | undefined): void {
  run.cells.cancel[id] = reason === undefined ? 0 : CANCEL_REASONS.indexOf(reason) + 1;
}

/** Why the cancellation of the cell's attempt was requested; undefined if it was not. */
export function cancelReason(run: RunState, id: number): CancelReason | undefined {
  const asked = run.cells.cancel[id]!;
  return asked === 0 ? undefined : CANCEL_REASONS[asked - 1];
}
