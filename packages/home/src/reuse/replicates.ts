import type { Cell } from '@sluice/core';

/** Computed once for each list: ten thousand cells need it ten thousand times. */
const known = new WeakMap<readonly Cell[], readonly number[]>();

/**
 * For each cell, how many cells before it have the same values: only this number distinguishes replicates, which are
 * separate work. Those of a step with `each` have names instead.
 */
export function countReplicates(cells: readonly Cell[]): readonly number[] {
  let counts = known.get(cells);
  if (counts === undefined) {
    const seen = new Map<string, number>();
    counts = cells.map(({ matrix, item }) => {
      const values = JSON.stringify([matrix, item]);
      const count = seen.get(values) ?? 0;
      seen.set(values, count + 1);
      return count;
    });
    known.set(cells, counts);
  }
  return counts;
}
