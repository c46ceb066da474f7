import { type Doubles, findDoubles, mergeDoubles } from '../expressions/doubles.ts';
import type { Json } from '../model/json.ts';
import type { Param } from '../model/pipeline.ts';
import { findDoublesInJson } from '../parse/find-written-doubles.ts';

/** The places of a parameter's values that are doubles because of its declaration: its type, default and allowed values. */
export function declaredDoubles({
  type,
  default: preset = null,
  enum: allowed = [],
  doubles,
}: Param): Doubles | undefined {
  if (type === 'number') return { number: true };
  if (type !== 'array' && type !== 'object') return undefined;
  return mergeDoubles([doubles, findDoubles([preset, ...allowed])]);
}

/** The places of a list or a map that its text, if it was given as one, writes as doubles. */
export function givenDoubles(given: Json, bound: Json): Doubles | undefined {
  return typeof given === 'string' && typeof bound === 'object' ? findDoublesInJson(given) : undefined;
}
