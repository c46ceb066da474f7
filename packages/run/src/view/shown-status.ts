import { describeState } from '../report/status-of-cell.ts';
import { CELL_STATES, type CellState } from '../scheduler/model/cell-state.ts';
import { SHOWN_STATUSES } from '../schemas/statuses.ts';

/** Index into `SHOWN_STATUSES`: one byte for each of the many cells of a run. */
export type ShownStatus = number;

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
