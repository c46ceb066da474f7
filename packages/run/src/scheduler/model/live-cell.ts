import type { CellState } from './cell-state.ts';

/** A cell whose container exists, or may exist, according to the events. */
export interface LiveCell {
  readonly step: number;
  readonly cell: number;
  readonly attempt: number;
  readonly state: CellState;
}
