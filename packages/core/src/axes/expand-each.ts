import { own } from '../model/own.ts';
import type { Cell, PlannedAxis } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { MAX_CELLS } from '../plan/expand-matrix.ts';

type Axes = Readonly<Record<string, PlannedAxis>>;

/** Combinations of items: in each row, the index of the item of each axis; -1: none. */
interface Rows {
  readonly axes: readonly string[];
  readonly rows: readonly (readonly number[])[];
}

/**
 * The cells of a step: one for each consistent combination of items of its axes, in the order of the items, with the last
 * axis varying fastest. A combination is consistent if no two of its items imply different items of one axis.
 */
export function expandEach(axes: Axes, each: readonly string[]): Result<readonly Cell[], string> {
  let joined: Rows = { axes: [], rows: [[]] };
  for (const axis of implyingFirst(axes, each)) {
    const next = joinAxis(joined, axis, own(axes, axis)!);
    if (!next.ok) return next;
    joined = next.value;
  }
  const named = each.map((axis) => ({ keys: own(axes, axis)!.keys, at: joined.axes.indexOf(axis) }));
  const implied = joined.axes.filter((axis) => !each.includes(axis));
  const columns = [...each, ...implied].map((axis) => [axis, joined.axes.indexOf(axis)] as const);
  const sorted = [...joined.rows].sort((a, b) => {
    for (const { at } of named) if (a[at] !== b[at]) return a[at]! - b[at]!;
    return 0;
  });
  return ok(
    sorted.map((row) => ({
      key: named.map(({ keys, at }) => keys[row[at]!]).join(','),
      matrix: NO_MATRIX,
      each: Object.fromEntries(columns.flatMap(([axis, at]) => (row[at]! >= 0 ? [[axis, row[at]!] as const] : []))),
    })),
  );
}

const NO_MATRIX = Object.freeze({});

/** An axis whose items imply those of another comes before it, so that the other one adds no combinations. */
function implyingFirst(axes: Axes, each: readonly string[]): readonly string[] {
  const implying = (axis: string): number =>
    each.filter((other) => own(own(axes, other)!.implies, axis) !== undefined).length;
  return [...each].sort((a, b) => implying(a) - implying(b));
}

function joinAxis({ axes, rows }: Rows, name: string, { keys, implies }: PlannedAxis): Result<Rows, string> {
  const at = axes.indexOf(name);
  if (at >= 0) return ok({ axes, rows: rows.filter((row) => row[at]! >= 0) });
  const implied = Object.entries(implies).map(([axis, items]) => ({ axis, items, at: axes.indexOf(axis) }));
  const shared = implied.filter((one) => one.at >= 0);
  const added = implied.filter((one) => one.at < 0);
  const byShared = new Map<string, number[]>();
  for (let item = 0; item < keys.length; item++) {
    const key = shared.map(({ items }) => items[item]).join();
    const known = byShared.get(key);
    if (known === undefined) byShared.set(key, [item]);
    else known.push(item);
  }
  const next: number[][] = [];
  for (const row of rows) {
    for (const item of byShared.get(shared.map((one) => row[one.at]).join()) ?? []) {
      if (next.length >= MAX_CELLS) return fail(`it has more than ${MAX_CELLS} cells, the maximum of a step`);
      next.push([...row, item, ...added.map(({ items }) => items[item]!)]);
    }
  }
  return ok({ axes: [...axes, name, ...added.map(({ axis }) => axis)], rows: next });
}
