import { toCel } from '../expressions/cel-values.ts';
import { own } from '../model/own.ts';
import type { Cell, PlannedAxis } from '../model/plan.ts';

const NO_DOUBLES = Object.freeze({});

/** The items of a cell as expressions read them, by axis. */
export function itemsOf(
  axes: Readonly<Record<string, PlannedAxis>>,
  { each = {}, listed }: Cell,
): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(each).map(([axis, place]) => {
      if (listed?.axis === axis) return [axis, toCel(listed.item, listed.doubles ?? NO_DOUBLES)] as const;
      const { items, doubles = NO_DOUBLES } = own(axes, axis)!;
      return [axis, toCel(items[place]!, doubles)] as const;
    }),
  );
}
