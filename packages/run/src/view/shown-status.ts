import { describeState } from '../report/status-of-cell.ts';
import { CELL_STATES, type CellState } from '../scheduler/model/cell-state.ts';
import { CELL_STATUSES, type CellStatus } from '../schemas/statuses.ts';

/** Index into `SHOWN_STATUSES`: one byte for each of the many cells of a run. */
export type ShownStatus = number;

/** What is shown of a cell without further facts: its status, and whether an earlier result is reused. */
export const SHOWN_STATUSES: readonly { readonly status: CellStatus; readonly reused: boolean }[] = [
  ...CELL_STATUSES.map((status) => ({ status, reused: false })),
  { status: 'succeeded', reused: true },
];

/** The status of a cell in this state of the scheduler. */
export function shownStatus(state: CellState): ShownStatus {
  return OF_STATE.get(state)!;
}

const OF_STATE: ReadonlyMap<CellState, ShownStatus> = new Map(
  CELL_STATES.map((state) => {
    const { status, reused = false } = describeState(state, () => false);
    return [state, SHOWN_STATUSES.findIndex((shown) => shown.status === status && shown.reused === reused)];
  }),
);
