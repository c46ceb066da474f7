import type { Json } from '../model/json.ts';

/** A map of a file whose values are not checked yet. */
export type RawMap = Readonly<Record<string, Json>>;

/** Whether a value is a map, not a list or null. */
export function isRawMap(value: Json | undefined): value is RawMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
