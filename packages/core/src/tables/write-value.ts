import { type Doubles, hidesDoubles } from '../expressions/doubles.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';

/** The text of a value as after `-p NAME=`: a string itself, and JSON that shows which numbers are doubles. */
export function writeValue(value: Json, doubles?: Doubles): string {
  return typeof value === 'string' ? value : writeJson(value, doubles);
}

function writeJson(value: Json, doubles: Doubles | undefined): string {
  if (!hidesDoubles(value, doubles)) return JSON.stringify(value);
  if (typeof value === 'number') return `${value}.0`;
  if (Array.isArray(value)) return `[${value.map((item: Json) => writeJson(item, doubles?.items)).join(',')}]`;
  const entries = Object.entries(value as Readonly<Record<string, Json>>);
  const keys = doubles?.keys ?? {};
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${writeJson(item, own(keys, key))}`).join(',')}}`;
}
