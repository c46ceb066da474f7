import type { ShownStatus } from './shown-status.ts';

/** One change of what is shown of a cell. */
export interface CellMove {
  /** Sequence number of the journal's record that caused it. */
  readonly position: number;
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  /** Index into `plan.steps`. */
  readonly step: number;
  readonly cell: number;
  readonly status: ShownStatus;
  readonly attempt: number;
}

/** All moves of a run in order. A run may have millions of them: each takes 25 bytes. */
export interface MoveLog {
  readonly length: number;
  at(index: number): CellMove;
  /** Index of the first move whose position is higher than `position`. */
  after(position: number): number;
  /** The moves of one cell. */
  of(step: number, cell: number): CellMove[];
}

/** A `MoveLog` that its owner extends. */
export interface WritableMoveLog extends MoveLog {
  push(move: CellMove): void;
}

/** An empty log. */
export function createMoveLog(): WritableMoveLog {
  let capacity = 64;
  let length = 0;
  let positions = new Float64Array(capacity);
  let times = new Float64Array(capacity);
  let places = new Uint32Array(2 * capacity);
  let attempts = new Uint16Array(capacity);
  let statuses = new Uint8Array(capacity);

  function grow(): void {
    capacity *= 2;
    positions = extend(positions, new Float64Array(capacity));
    times = extend(times, new Float64Array(capacity));
    places = extend(places, new Uint32Array(2 * capacity));
    attempts = extend(attempts, new Uint16Array(capacity));
    statuses = extend(statuses, new Uint8Array(capacity));
  }

  const at = (index: number): CellMove => ({
    position: positions[index]!,
    at: times[index]!,
    step: places[2 * index]!,
    cell: places[2 * index + 1]!,
    status: statuses[index]!,
    attempt: attempts[index]!,
  });

  return {
    get length() {
      return length;
    },
    push(move) {
      if (length === capacity) grow();
      positions[length] = move.position;
      times[length] = move.at;
      places[2 * length] = move.step;
      places[2 * length + 1] = move.cell;
      attempts[length] = move.attempt;
      statuses[length] = move.status;
      length++;
    },
    at,
    of(step, cell) {
      const found: CellMove[] = [];
      for (let index = 0; index < length; index++)
        if (places[2 * index] === step && places[2 * index + 1] === cell) found.push(at(index));
      return found;
    },
    after(position) {
      let [low, high] = [0, length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (positions[middle]! > position) high = middle;
        else low = middle + 1;
      }
      return low;
    },
  };
}

function extend<A extends { set(array: A): void }>(from: A, to: A): A {
  to.set(from);
  return to;
}
