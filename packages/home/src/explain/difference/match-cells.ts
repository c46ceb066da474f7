import type { Cell } from '@sluice/core';

/** The cells of a step in two runs: the same ones, and those that only one run has. By index. */
export interface MatchedCells {
  readonly pairs: readonly { readonly old: number; readonly now: number }[];
  readonly added: readonly number[];
  readonly removed: readonly number[];
}

/**
 * Matches cells by their names. Those that are left match if they have the same values, whatever the names and the order of
 * their axes; of several with the same values, none does.
 */
export function matchCells(before: readonly Cell[], after: readonly Cell[]): MatchedCells {
  const byKey = new Map(before.map(({ key }, index) => [key, index]));
  const named = after.flatMap(({ key }, now) => (byKey.has(key) ? [{ old: byKey.get(key)!, now }] : []));
  const [taken, found] = [new Set(named.map(({ old }) => old)), new Set(named.map(({ now }) => now))];
  const [left, rest] = [indexByValues(before, taken), indexByValues(after, found)];
  const alike = [...rest].flatMap(([values, [now, ...others]]) => {
    const [old, ...more] = left.get(values) ?? [];
    return old === undefined || others.length + more.length > 0 ? [] : [{ old, now: now! }];
  });
  for (const { old, now } of alike) {
    taken.add(old);
    found.add(now);
  }
  return {
    pairs: [...named, ...alike].sort((a, b) => a.now - b.now),
    added: after.flatMap((_, index) => (found.has(index) ? [] : [index])),
    removed: before.flatMap((_, index) => (taken.has(index) ? [] : [index])),
  };
}

function indexByValues(cells: readonly Cell[], without: ReadonlySet<number>): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const [index, cell] of cells.entries()) {
    if (without.has(index)) continue;
    const values = valuesOf(cell);
    found.set(values, [...(found.get(values) ?? []), index]);
  }
  return found;
}

function valuesOf({ key, matrix, item, each }: Cell): string {
  if (each !== undefined) return key.split(',').sort().join();
  return JSON.stringify([
    Object.values(matrix)
      .map((value) => JSON.stringify(value))
      .sort(),
    item,
  ]);
}
