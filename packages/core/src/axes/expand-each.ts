import { own } from '../model/own.ts';
import type { Cell, PlannedAxis } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { MAX_CELLS } from '../plan/expand-matrix.ts';

type Axes = Readonly<Record<string, PlannedAxis>>;
/** By axis, the index of an item. */
type Row = Readonly<Record<string, number>>;

/**
 * The cells of a step: one for each consistent combination of items of its axes, in the order of the items, with the last
 * axis varying fastest. A combination is consistent if no two of its items imply different items of one axis.
 */
export function expandEach(axes: Axes, each: readonly string[]): Result<readonly Cell[], string> {
  let rows: readonly Row[] = [{}];
  for (const axis of implyingFirst(axes, each)) {
    const joined = joinAxis(axes, axis, rows);
    if (!joined.ok) return joined;
    rows = joined.value;
  }
  const sorted = [...rows].sort((a, b) => {
    for (const axis of each) if (a[axis] !== b[axis]) return a[axis]! - b[axis]!;
    return 0;
  });
  return ok(
    sorted.map((row) => {
      const rest = Object.keys(row).filter((axis) => !each.includes(axis) && row[axis]! >= 0);
      return {
        key: each.map((axis) => axes[axis]!.keys[row[axis]!]).join(','),
        matrix: NO_MATRIX,
        each: Object.fromEntries([...each, ...rest].map((axis) => [axis, row[axis]!])),
      };
    }),
  );
}

const NO_MATRIX = Object.freeze({});

/** An axis whose items imply those of another comes before it, so that the other one adds no combinations. */
function implyingFirst(axes: Axes, each: readonly string[]): readonly string[] {
  const implied = (axis: string): number =>
    each.filter((other) => other !== axis && own(axes[other]!.implies, axis) !== undefined).length;
  return [...each].sort((a, b) => implied(a) - implied(b));
}

function joinAxis(axes: Axes, name: string, rows: readonly Row[]): Result<readonly Row[], string> {
  const axis = axes[name]!;
  const [first] = rows;
  if (first === undefined) return ok([]);
  if (Object.hasOwn(first, name)) return ok(rows.filter((row) => row[name]! >= 0));
  const shared = Object.keys(axis.implies).filter((other) => Object.hasOwn(first, other));
  const byShared = new Map<string, number[]>();
  for (let item = 0; item < axis.keys.length; item++) {
    const key = shared.map((other) => axis.implies[other]![item]).join();
    const known = byShared.get(key);
    if (known === undefined) byShared.set(key, [item]);
    else known.push(item);
  }
  const implied = Object.entries(axis.implies);
  const next: Row[] = [];
  for (const row of rows) {
    for (const item of byShared.get(shared.map((other) => row[other]).join()) ?? []) {
      if (next.length >= MAX_CELLS) return fail(`it has more than ${MAX_CELLS} cells, the maximum of a step`);
      const joined: Record<string, number> = { ...row, [name]: item };
      for (const [other, items] of implied) joined[other] = items[item]!;
      next.push(joined);
    }
  }
  return ok(next);
}
