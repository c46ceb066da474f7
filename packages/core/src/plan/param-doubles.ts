import { createDoubles, type Doubles, findDoubles, mergeDoubles } from '../expressions/doubles.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Param } from '../model/param.ts';
import { findDoublesInJson } from '../parse/find-written-doubles.ts';
import type { Columns } from '../tables/column-type.ts';

/** The places of a parameter's values that are doubles because of its declaration: its type, default and allowed values. */
export function declaredDoubles({
  type,
  default: preset = null,
  enum: allowed = [],
  columns = {},
  doubles,
}: Param): Doubles | undefined {
  if (type === 'number') return { number: true };
  if (type !== 'array' && type !== 'object') return undefined;
  return mergeDoubles([doubles, findDoubles([preset, ...allowed]), doublesOfColumns(columns)]);
}

function doublesOfColumns(columns: Columns): Doubles | undefined {
  const numbers = Object.keys(columns).filter((name) => own(columns, name) === 'number');
  return createDoubles({ items: createDoubles({ keys: numbers.map((name) => [name, { number: true }] as const) }) });
}

/** The places of a list or a map that its text, if it was given as one, writes as doubles. */
export function givenDoubles(given: Json, bound: Json): Doubles | undefined {
  return typeof given === 'string' && typeof bound === 'object' ? findDoublesInJson(given) : undefined;
}
