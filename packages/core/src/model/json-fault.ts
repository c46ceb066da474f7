import type { Json } from './json.ts';

/** Limit for the nesting of lists and maps. The deepest sensible value has about 10 levels. */
export const MAX_DEPTH = 64;

/**
 * Why a parsed JSON value cannot be used, as the end of a sentence; undefined if it can. Deep nesting would exhaust the
 * stack of later code, and `1e999` becomes a number that JSON cannot represent. `depth` is the nesting of `value`
 * itself.
 */
export function jsonFault(value: Json, depth = 0): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'holds a number that is not finite';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  for (const item of Object.values(value)) {
    const fault = jsonFault(item, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
