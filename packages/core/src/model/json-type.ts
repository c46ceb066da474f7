import type { Json } from './json.ts';

/** The type that a parameter or result can have. An `integer` is a number that JavaScript represents exactly. */
export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';

/** Whether a value has the type; `null` has none. */
export function isOfType(value: Json, type: JsonType): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'number':
      // JSON text can contain `1e999`, which has no finite value.
      return Number.isFinite(value);
    case 'integer':
      return Number.isSafeInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
}

/** The narrowest type of a value; `string` for `null`. */
export function typeOf(value: Json): JsonType {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' && value !== null ? 'object' : 'string';
}
