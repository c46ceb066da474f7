import type { KeyRange } from './store.ts';

/** Merges stored entries with unflushed ones, which take precedence, in key order. The value undefined removes an entry. */
export function* mergeRanges(
  stored: Iterable<{ readonly key: string; readonly value: unknown }>,
  unflushed: ReadonlyMap<string, unknown>,
  range: KeyRange,
): Iterable<readonly [string, unknown]> {
  const inside = (key: string) => (range.after ? key > range.from : key >= range.from) && key < range.to;
  const fresh = [...unflushed].filter(([key]) => inside(key)).sort(([a], [b]) => (a < b ? -1 : 1));
  let next = 0;
  for (const { key, value } of stored) {
    for (; next < fresh.length && fresh[next]![0] < key; next++) {
      if (fresh[next]![1] !== undefined) yield fresh[next]!;
    }
    if (fresh[next]?.[0] !== key) {
      yield [key, value];
      continue;
    }
    if (fresh[next]![1] !== undefined) yield fresh[next]!;
    next++;
  }
  for (; next < fresh.length; next++) if (fresh[next]![1] !== undefined) yield fresh[next]!;
}
