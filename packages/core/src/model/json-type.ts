import type { Json } from './json.ts';

/** What a parameter or a result can be declared to be. `integer` is a number that JavaScript holds exactly. */
export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';

export function isOfType(value: Json, type: JsonType): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'number':
      // JSON text can say `1e999`, and cannot say what becomes of it.
      return Number.isFinite(value);
    case 'integer':
      return Number.isSafeInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
}

/** The narrowest type that the value is of; `null` tells of none and passes for a string. */
export function typeOf(value: Json): JsonType {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' && value !== null ? 'object' : 'string';
}
