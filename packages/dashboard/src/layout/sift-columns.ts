import type { Slot } from './slot.ts';

const PASSES = 3;
/** In longer columns, the comparison of all pairs takes too long. */
const MAX_COLUMN = 150;

/** Moves each slot to the place in its column where the fewest edges cross, some times or until nothing is gained. */
export function siftColumns(columns: readonly number[][], slots: readonly Slot[]): void {
  const rank = new Int32Array(slots.length);
  for (const column of columns) for (const [place, slot] of column.entries()) rank[slot] = place;
  let hasGained = true;
  for (let pass = 0; pass < PASSES && hasGained; pass++) {
    hasGained = false;
    for (const column of pass % 2 === 0 ? columns : columns.toReversed()) {
      if (column.length > MAX_COLUMN || !siftColumn(column, slots, rank)) continue;
      hasGained = true;
    }
  }
}

/** The places of the neighbors of a slot before and after it, in order. */
type Sides = readonly [before: readonly number[], after: readonly number[]];

/** Whether fewer edges cross now. */
function siftColumn(column: number[], slots: readonly Slot[], rank: Int32Array): boolean {
  const places = (others: readonly number[]) => others.map((other) => rank[other]!).sort((a, b) => a - b);
  const sides = new Map<number, Sides>(
    column.map((slot) => [slot, [places(slots[slot]!.before), places(slots[slot]!.after)]]),
  );
  let hasGained = false;
  for (const slot of [...column]) {
    const from = column.indexOf(slot);
    const to = findBest(column, sides, from);
    if (to === from) continue;
    hasGained = true;
    column.splice(from, 1);
    column.splice(to, 0, slot);
  }
  for (const [place, slot] of column.entries()) rank[slot] = place;
  return hasGained;
}

/** The place with the fewest crossings for the slot at `from`; `from` if no other is better. */
function findBest(column: readonly number[], sides: ReadonlyMap<number, Sides>, from: number): number {
  const own = sides.get(column[from]!)!;
  let best = { place: from, change: 0 };
  for (const step of [-1, 1]) {
    let change = 0;
    for (let place = from + step; place >= 0 && place < column.length; place += step) {
      const other = sides.get(column[place]!)!;
      change += (countBoth(own, other) - countBoth(other, own)) * -step;
      if (change < best.change) best = { place, change };
    }
  }
  return best.place;
}

/** The crossings of the edges of two slots, on both sides, if the first is above the second. */
function countBoth(above: Sides, below: Sides): number {
  return countPairs(above[0], below[0]) + countPairs(above[1], below[1]);
}

/** The number of pairs of which the first is greater; both lists are sorted. */
function countPairs(above: readonly number[], below: readonly number[]): number {
  let [count, smaller] = [0, 0];
  for (const place of above) {
    while (smaller < below.length && below[smaller]! < place) smaller++;
    count += smaller;
  }
  return count;
}
