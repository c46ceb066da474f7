import type { JsonType, JsonValue } from './json-values.ts';
import { printableJson } from './printable-json.ts';
import { renderJson } from './render-json.ts';

/** The version of the contract that every printed value names. */
const SCHEMA = 1;

/** A value in blocks of text, for values with many parts. */
export function renderBlocks<T extends JsonType>(type: T, value: JsonValue<T>): Generator<string> {
  return renderJson({ schema: SCHEMA, type, ...value });
}

/** A value as one line of JSON, with `schema` and `type` first. */
export function renderValue<T extends JsonType>(type: T, value: JsonValue<T>): string {
  return `${printableJson({ schema: SCHEMA, type, ...value })}\n`;
}
