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
  let isDouble = false;
  const items: Json[] = [];
  const byKey = new Map<string, Json[]>();
  for (const value of values) {
    if (typeof value === 'number') isDouble ||= !Number.isSafeInteger(value);
    else if (Array.isArray(value)) for (const item of value) items.push(item);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        const known = byKey.get(key);
        if (known === undefined) byKey.set(key, [item]);
        else known.push(item);
      }
    }
  }
  const ofItems = items.length === 0 ? undefined : findDoubles(items);
  const ofKeys = [...byKey].flatMap(([key, all]) => {
    const found = findDoubles(all);
    return found === undefined ? [] : [[key, found] as const];
  });
  if (!isDouble && ofItems === undefined && ofKeys.length === 0) return undefined;
  return {
    ...(isDouble && { number: true }),
    ...(ofItems && { items: ofItems }),
    ...(ofKeys.length > 0 && { keys: Object.fromEntries(ofKeys) }),
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
