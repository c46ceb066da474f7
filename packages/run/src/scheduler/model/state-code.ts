import { CELL_STATES, type CellState } from './cell-state.ts';

/** The numbers that represent cell states in arrays: indexes into `CELL_STATES`. */
export const CODE = {
  waiting: 0,
  ready: 1,
  checking: 2,
  submitting: 3,
  pending: 4,
  running: 5,
  publishing: 6,
  backingOff: 7,
  awaitingApproval: 8,
  succeeded: 9,
  failed: 10,
  errored: 11,
  timedOut: 12,
  canceled: 13,
  skipped: 14,
  cached: 15,
} as const satisfies Readonly<Record<CellState, number>>;

/** The name of a state's number. */
export function stateName(code: number): CellState {
  return CELL_STATES[code]!;
}

/** States from here on are terminal. */
export const FIRST_TERMINAL: number = CODE.succeeded;

/** Whether a cell in this state has failed by itself; a canceled one has not. */
export function isFailed(code: number): boolean {
  return code >= CODE.failed && code <= CODE.timedOut;
}

/** Whether a container of the cell exists or is being created, so that it counts against the limits. */
export function isLive(code: number): boolean {
  return code === CODE.submitting || code === CODE.pending || code === CODE.running;
}
