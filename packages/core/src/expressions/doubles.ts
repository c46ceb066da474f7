import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';

/**
 * The places in a value whose numbers are doubles even if they are whole: JSON does not distinguish `1.0` from `1`. Plain
 * JSON data.
 */
export interface Doubles {
  /** The value itself, if it is a number. */
  readonly number?: true;
  /** The items, if it is a list. */
  readonly items?: Doubles;
  /** By key, if it is a map. */
  readonly keys?: Readonly<Record<string, Doubles>>;
}

/**
 * The doubles of values with the same meaning, such as the items of a list or the cells of a step: if one number has a
 * fraction, the numbers at the same place in the others are doubles too. Undefined if there are none.
 */
export function findDoubles(values: readonly Json[]): Doubles | undefined {
  return collectDoubles(values, (number) => !Number.isSafeInteger(number));
}

/**
 * Collects the places of numbers that are doubles, in values of JSON or of CEL, whose integers are no numbers of
 * JavaScript.
 */
export function collectDoubles(values: readonly unknown[], isDouble: (number: number) => boolean): Doubles | undefined {
  let number = false;
  const items: unknown[] = [];
  const byKey = new Map<string, unknown[]>();
  for (const value of values) {
    if (typeof value === 'number') number ||= isDouble(value);
    else if (Array.isArray(value)) for (const item of value) items.push(item);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of value instanceof Map ? value : Object.entries(value)) {
        const name = String(key);
        const known = byKey.get(name);
        if (known === undefined) byKey.set(name, [item]);
        else known.push(item);
      }
    }
  }
  const ofItems = items.length === 0 ? undefined : collectDoubles(items, isDouble);
  const ofKeys = [...byKey].flatMap(([key, all]) => {
    const found = collectDoubles(all, isDouble);
    return found === undefined ? [] : [[key, found] as const];
  });
  return createDoubles({ number, items: ofItems, keys: ofKeys });
}

/** The places of a value from those of its parts. Undefined if there are none. */
export function createDoubles({
  number = false,
  items,
  keys = [],
}: {
  readonly number?: boolean;
  readonly items?: Doubles | undefined;
  readonly keys?: readonly (readonly [string, Doubles])[];
}): Doubles | undefined {
  if (!number && items === undefined && keys.length === 0) return undefined;
  return {
    ...(number && { number: true }),
    ...(items && { items }),
    ...(keys.length > 0 && { keys: Object.fromEntries(keys) }),
  };
}

/** The places that at least one has. */
export function mergeDoubles(all: readonly (Doubles | undefined)[]): Doubles | undefined {
  let merged: Doubles | undefined;
  for (const one of all) if (one !== undefined) merged = mergeTwo(merged, one);
  return merged;
}

function mergeTwo(one: Doubles | undefined, other: Doubles): Doubles {
  if (one === undefined || one === other) return other;
  const keys = new Map(Object.entries(one.keys ?? {}));
  for (const [key, inner] of Object.entries(other.keys ?? {})) keys.set(key, mergeTwo(keys.get(key), inner));
  return {
    ...((one.number === true || other.number === true) && { number: true }),
    ...(other.items ? { items: mergeTwo(one.items, other.items) } : one.items && { items: one.items }),
    ...(keys.size > 0 && { keys: Object.fromEntries(keys) }),
  };
}

/** Whether a value has a whole number at one of the places, so that it cannot show by itself that it is a double. */
export function hidesDoubles(value: Json, doubles: Doubles | undefined): boolean {
  if (doubles === undefined) return false;
  if (typeof value === 'number') return doubles.number === true && Number.isSafeInteger(value);
  if (Array.isArray(value)) return value.some((item: Json) => hidesDoubles(item, doubles.items));
  if (typeof value !== 'object' || value === null) return false;
  const map = value as Readonly<Record<string, Json>>;
  return Object.entries(doubles.keys ?? {}).some(([key, inner]) => hidesDoubles(own(map, key) ?? null, inner));
}
