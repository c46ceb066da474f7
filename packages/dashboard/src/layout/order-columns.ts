import { countCrossings } from './count-crossings.ts';
import { siftColumns } from './sift-columns.ts';
import { type Slot, sortColumn, stack } from './slot.ts';

const SWEEPS = 24;
/** Sweeps without fewer crossings, after which there are hardly ever any. */
const PATIENCE = 6;
/** Slots that are ordered in all attempts together. Larger graphs have one attempt, without the slowest part. */
const MAX_WORK = 4_000;
const MAX_ATTEMPTS = 12;

interface Order {
  readonly crossings: number;
  readonly columns: readonly (readonly number[])[];
}

/**
 * Orders each column by the mean position of neighbors, forward and backward, and by looking for a better place of each
 * slot, and keeps the order with the fewest crossings. A bad beginning can end in a bad order, so there are several
 * attempts, the first from the order of the plan and the others from random ones, which are the same each time.
 */
export function orderColumns(columns: number[][], slots: readonly Slot[]): void {
  let best = improve(columns, slots);
  const attempts = Math.min(MAX_ATTEMPTS, Math.floor(MAX_WORK / Math.max(1, slots.length)));
  const random = createRandom();
  for (let attempt = 1; attempt < attempts && best.crossings > 0; attempt++) {
    for (const column of columns) shuffle(column, random);
    const found = improve(columns, slots);
    if (found.crossings < best.crossings) best = found;
  }
  columns.forEach((column, index) => {
    column.splice(0, column.length, ...best.columns[index]!);
  });
}

function improve(columns: number[][], slots: readonly Slot[]): Order {
  const orderNow = () => ({ crossings: countCrossings(columns, slots), columns: columns.map((column) => [...column]) });
  for (const column of columns) stack(column, slots);
  let best = orderNow();
  for (let sweep = 0, vain = 0; sweep < SWEEPS && vain < PATIENCE && best.crossings > 0; sweep++) {
    const isForward = sweep % 2 === 0;
    for (const column of isForward ? columns : columns.toReversed()) {
      sortColumn(column, slots, isForward ? 'before' : 'after');
      stack(column, slots);
    }
    if (slots.length <= MAX_WORK) siftColumns(columns, slots);
    for (const column of columns) stack(column, slots);
    const found = orderNow();
    vain = found.crossings < best.crossings ? 0 : vain + 1;
    if (vain === 0) best = found;
  }
  return best;
}

/** Numbers from 0 to below 1 (a linear congruential generator). */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function shuffle(column: number[], random: () => number): void {
  for (let last = column.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [column[last], column[other]] = [column[other]!, column[last]!];
  }
}
