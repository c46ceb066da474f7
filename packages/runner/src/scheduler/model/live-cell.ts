import type { CellState } from './cell-state.ts';

/** A container that the scheduler believes to exist or to be under way. */
export interface LiveCell {
  readonly step: number;
  readonly cell: number;
  readonly attempt: number;
  readonly state: CellState;
}
