import type { Json } from '../model/json.ts';
import { isOfType } from '../model/json-type.ts';
import { own } from '../model/own.ts';
import { showJson } from '../render/show-json.ts';
import type { Columns } from './column-type.ts';

/** Why a list has not the declared columns, as the end of a sentence; undefined if each of its items has them. */
export function findRowFault(rows: readonly Json[], columns: Columns): string | undefined {
  for (const [index, row] of rows.entries()) {
    const at = `in row ${index + 1}`;
    if (!isOfType(row, 'object')) return `has ${showJson(row)} ${at} instead of a map of its columns`;
    for (const [name, type] of Object.entries(columns)) {
      const value = own(row as Readonly<Record<string, Json>>, name);
      if (value === undefined) return `has no column \`${name}\` ${at}`;
      if (!isOfType(value, type))
        return `has ${showJson(value)} in column \`${name}\` ${at}, which is not of type ${type}`;
    }
  }
  return undefined;
}
