import type { Json } from './json.ts';

/** Nesting of lists and maps. The deepest sensible value has about 10 levels. */
export const MAX_DEPTH = 64;

/**
 * Why a value that came as JSON text cannot be used, continuing a sentence that begins with it: what is nested deeply
 * exhausts the stack of whatever walks over it later, and `1e999` becomes a number that JSON cannot say.
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
