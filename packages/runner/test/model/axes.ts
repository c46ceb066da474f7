import type { Json } from '@sluice/core';
import type { ModelInput, ModelStep } from './model-file.ts';

/** The axes of every model file that has any: `z` has two items for each of `x`. */
export const AXES: Readonly<Record<string, Json>> = {
  x: '${{ params.xs }}',
  y: ['a', 'b'],
  z: {
    items:
      "${{ params.xs.map(n, {'id': 'p' + string(n), 'x': n}) + params.xs.map(n, {'id': 'q' + string(n), 'x': n}) }}",
    key: '${{ item.id }}',
    of: { x: 'x' },
  },
};

/** The axes that each item of an axis implies. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = { x: [], y: [], z: ['x'] };

/** The keys of a cell, by axis. */
export type Keys = Readonly<Record<string, string>>;

/** All axes that cells with these have. */
export function closure(axes: Iterable<string>): ReadonlySet<string> {
  return new Set([...axes].flatMap((axis) => [axis, ...IMPLIED[axis]!]));
}

/** The items of an axis as the keys that each of them fixes. */
function itemsOf(axis: string, xs: readonly Json[]): readonly Keys[] {
  if (axis === 'x') return xs.map((x) => ({ x: String(x) }));
  if (axis === 'y') return ['a', 'b'].map((y) => ({ y }));
  return ['p', 'q'].flatMap((kind) => xs.map((x) => ({ z: `${kind}${x}`, x: String(x) })));
}

/** The combinations of items that do not contradict each other, the last axis fastest. */
export function combine(each: readonly string[], xs: readonly Json[]): readonly Keys[] {
  let rows: readonly Keys[] = [{}];
  for (const axis of each) {
    rows = rows.flatMap((row) =>
      itemsOf(axis, xs)
        .filter((item) => Object.entries(item).every(([name, key]) => row[name] === undefined || row[name] === key))
        .map((item) => ({ ...row, ...item })),
    );
  }
  // Those of `each`, then the implied ones.
  return rows.map((row) =>
    Object.fromEntries([...new Set([...each, ...closure(each)])].map((axis) => [axis, row[axis]!])),
  );
}

/** Which cells of a step one cell of another means. */
export interface Meaning {
  readonly isMeant: (keys: Keys) => boolean;
  readonly isSingle: boolean;
  /** The axes of the step whose keys differ among them, in the order of `each`. */
  readonly differing: readonly string[];
}

/** By the rules of docs/axes.md; `firstX` is the key that `where` names. */
export function findMeaning(
  reader: { readonly step: ModelStep; readonly keys: Keys },
  source: ModelStep,
  { rules, firstX }: { readonly rules?: ModelInput | undefined; readonly firstX: string },
): Meaning {
  const each = source.each!;
  const given = Object.keys(rules?.where ?? {});
  const isReplaced = (axis: string): boolean =>
    given.some((one) => closure([one]).has(axis) || closure([axis]).has(one)) ||
    (rules?.all !== undefined && closure([axis]).has(rules.all));
  const bound = new Map(Object.entries(reader.keys).filter(([axis]) => !isReplaced(axis)));
  // `where` names an item of `x` only, which implies nothing.
  for (const axis of given) bound.set(axis, firstX);
  const shared = [...bound.keys()].filter((axis) => closure(each).has(axis));
  const fixed = closure(shared);
  return {
    isMeant: (keys) => shared.every((axis) => keys[axis] === bound.get(axis)),
    isSingle: each.every((axis) => fixed.has(axis)),
    differing: each.filter((axis) => !fixed.has(axis)),
  };
}
