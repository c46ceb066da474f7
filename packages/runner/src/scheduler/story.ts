import type { CellState } from './cell-state.ts';

/** One move of a cell. */
export interface StoryEntry {
  readonly at: number;
  readonly from: CellState;
  readonly to: CellState;
  /** What caused it: an event's type, or the scheduler's own reason. */
  readonly cause: string;
  readonly attempt: number;
}
