import type { JsonType, JsonValue } from './json-values.ts';

/** The version of the contract that every printed value names. */
const SCHEMA = 1;

/** A value as one line of JSON, with `schema` and `type` first. */
export function renderValue<T extends JsonType>(type: T, value: JsonValue<T>): string {
  return `${JSON.stringify({ schema: SCHEMA, type, ...value })}\n`;
}
