/** A node, or the place where an edge crosses a column between its ends. */
export interface Slot {
  readonly level: number;
  readonly height: number;
  readonly before: number[];
  readonly after: number[];
  /** The middle. */
  y: number;
}

const ROW_GAP = 14;

/** The distance that the middles of two neighbors in a column must have. */
export function distance(a: Slot, b: Slot): number {
  return (a.height + b.height) / 2 + ROW_GAP;
}

/** Places the slots of a column below each other, with the middle of the column at 0. */
export function stack(column: readonly number[], slots: readonly Slot[]): void {
  let y = 0;
  column.forEach((slot, index) => {
    if (index > 0) y += distance(slots[column[index - 1]!]!, slots[slot]!);
    slots[slot]!.y = y;
  });
  for (const slot of column) slots[slot]!.y -= y / 2;
}

/** Sorts a column by the mean position of the neighbors on one side. Those without keep their position. */
export function sortColumn(column: number[], slots: readonly Slot[], side: 'before' | 'after'): void {
  const wanted = new Map(column.map((index) => [index, meanOf(slots[index]!, slots, [side])]));
  column.sort((a, b) => wanted.get(a)! - wanted.get(b)! || a - b);
}

/** The mean position of the neighbors of a slot on these sides; its own if it has none. */
export function meanOf(slot: Slot, slots: readonly Slot[], sides: readonly ('before' | 'after')[]): number {
  let [sum, count] = [0, 0];
  for (const side of sides) {
    for (const other of slot[side]) {
      sum += slots[other]!.y;
      count += 1;
    }
  }
  return count === 0 ? slot.y : sum / count;
}
