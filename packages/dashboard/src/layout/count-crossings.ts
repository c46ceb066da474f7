import type { Slot } from './slot.ts';

/** The number of pairs of edges that cross between neighboring columns. */
export function countCrossings(columns: readonly (readonly number[])[], slots: readonly Slot[]): number {
  const rank = new Map<number, number>();
  for (const column of columns) for (const [index, slot] of column.entries()) rank.set(slot, index);
  let crossings = 0;
  columns.forEach((column, level) => {
    const size = columns[level + 1]?.length ?? 0;
    const ends = column.flatMap((slot) => slots[slot]!.after.map((other) => rank.get(other)!).sort((a, b) => a - b));
    crossings += countInversions(ends, size);
  });
  return crossings;
}

/** With a Fenwick tree: for each number, how many greater ones stand before it. */
function countInversions(numbers: readonly number[], size: number): number {
  const tree = new Uint32Array(size + 1);
  let inversions = 0;
  numbers.forEach((number, index) => {
    let notGreater = 0;
    for (let i = number + 1; i > 0; i -= i & -i) notGreater += tree[i]!;
    inversions += index - notGreater;
    for (let i = number + 1; i <= size; i += i & -i) tree[i]! += 1;
  });
  return inversions;
}
