import type { Json } from '../model/json.ts';
import { isOfType } from '../model/json-type.ts';
import { describeLargeInteger, findLargeInteger } from '../model/large-integer.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { showJson } from '../render/show-json.ts';
import type { ColumnType } from './column-type.ts';

/** Converts the text in a cell of a table. The error continues a sentence that begins with the cell. */
export function convertCell(text: string, type: ColumnType): Result<Json, string> {
  if (type === 'string') return ok(text);
  const large = findLargeInteger(text);
  if (large !== undefined) return fail(`contains an unsupported number: ${describeLargeInteger(large)}`);
  const value = parseScalar(text);
  return value !== undefined && isOfType(value, type)
    ? ok(value)
    : fail(`is ${showJson(text)}, which is not of type ${type}`);
}

function parseScalar(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
