import type { CellState } from '../model/cell-state.ts';
import { CAUSES, type Cause } from '../model/legal-moves.ts';
import { stateName } from '../model/state-code.ts';

/** One move of a cell. */
export interface HistoryEntry {
  readonly at: number;
  readonly from: CellState;
  readonly to: CellState;
  readonly cause: Cause;
  readonly attempt: number;
}

/** The latest moves of all cells, in a ring buffer that drops the oldest. */
export interface History {
  add(cell: number, move: { at: number; from: number; to: number; cause: number; attempt: number }): void;
  of(cell: number): HistoryEntry[];
  /** Cells have other numbers from now on. */
  move(from: number, place: { readonly to: number; readonly count: number }): void;
}

/** Initial capacity: most runs make few moves, and are replayed more often than they fill the ring. */
const FIRST_SIZE = 512;
const LARGEST_SIZE = 65_536;

/** Creates an empty history. It keeps the latest 65,536 moves. */
export function createHistory(): History {
  let size = FIRST_SIZE;
  let cells = new Int32Array(size);
  let times = new Float64Array(size);
  /** `from`, `to` and `cause` in one number. */
  let moves = new Int32Array(size);
  let attempts = new Int32Array(size);
  let written = 0;

  function grow(): void {
    size *= 2;
    cells = copy(cells, new Int32Array(size));
    times = copy(times, new Float64Array(size));
    moves = copy(moves, new Int32Array(size));
    attempts = copy(attempts, new Int32Array(size));
  }

  return {
    add(cell, { at, from, to, cause, attempt }) {
      if (written === size && size < LARGEST_SIZE) grow();
      const slot = written++ % size;
      cells[slot] = cell;
      times[slot] = at;
      moves[slot] = from | (to << 8) | (cause << 16);
      attempts[slot] = attempt;
    },
    move(from, { to, count }) {
      for (let slot = 0; slot < Math.min(written, size); slot++) {
        const cell = cells[slot]! - from;
        if (cell >= 0 && cell < count) cells[slot] = to + cell;
      }
    },
    of(cell) {
      const entries: HistoryEntry[] = [];
      for (let i = Math.max(0, written - size); i < written; i++) {
        const slot = i % size;
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

function copy<T extends { set(from: ArrayLike<number>): void }>(from: ArrayLike<number>, to: T): T {
  to.set(from);
  return to;
}
