import type { CellState } from './cell-state.ts';
import { CAUSES, type Cause } from './legal-moves.ts';
import { stateName } from './state-code.ts';

/** One move of a cell. */
export interface StoryEntry {
  readonly at: number;
  readonly from: CellState;
  readonly to: CellState;
  readonly cause: Cause;
  readonly attempt: number;
}

/** The latest moves of all cells, in a ring that forgets the oldest. */
export interface Story {
  add(cell: number, move: { at: number; from: number; to: number; cause: number; attempt: number }): void;
  of(cell: number): StoryEntry[];
}

export function createStory(capacity: number): Story {
  const cells = new Int32Array(capacity);
  const times = new Float64Array(capacity);
  /** from, to and cause in one number. */
  const moves = new Int32Array(capacity);
  const attempts = new Int32Array(capacity);
  let written = 0;
  return {
    add(cell, { at, from, to, cause, attempt }) {
      const slot = written++ % capacity;
      cells[slot] = cell;
      times[slot] = at;
      moves[slot] = from | (to << 8) | (cause << 16);
      attempts[slot] = attempt;
    },
    of(cell) {
      const entries: StoryEntry[] = [];
      for (let i = Math.max(0, written - capacity); i < written; i++) {
        const slot = i % capacity;
        if (cells[slot] !== cell) continue;
        const move = moves[slot]!;
        entries.push({
          at: times[slot]!,
          from: stateName(move & 0xff),
          to: stateName((move >> 8) & 0xff),
          cause: CAUSES[move >> 16]!,
          attempt: attempts[slot]!,
        });
      }
      return entries;
    },
  };
}
