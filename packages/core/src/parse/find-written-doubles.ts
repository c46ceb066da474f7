import { createDoubles, type Doubles, mergeDoubles } from '../expressions/doubles.ts';
import type { Json } from '../model/json.ts';
import { MAX_DEPTH } from '../model/json-fault.ts';
import { findInJson, readJsonTree } from './locate-json.ts';
import type { Path } from './source-document.ts';

const WHOLE_DOUBLE = /^[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?$/;
const WHOLE_DOUBLES = /(?:^|[\s,[{]|["']:)[-+]?\d+(?:\.0*|(?:\.\d*)?[eE][-+]?\d+)(?=[\s,\]}]|$)/;

/** The text of the scalar at a path; undefined for other values. */
export type WrittenAt = (path: Path) => string | undefined;

/** Whether a text may contain a whole number that is written as a double: only then are positions worth their time. */
export function mayHoldDoubles(text: string): boolean {
  return WHOLE_DOUBLES.test(text);
}

/** The places below `path` with a whole number that is written as a double, such as `1.0` or `1e3`. */
export function findWrittenDoubles(value: Json, written: WrittenAt, path: Path): Doubles | undefined {
  if (typeof value === 'number') {
    const text = Number.isSafeInteger(value) ? (written(path) ?? '') : '';
    return createDoubles({ number: WHOLE_DOUBLE.test(text) && /[.eE]/.test(text) });
  }
  if (Array.isArray(value)) {
    const items = value.map((item: Json, index) => findWrittenDoubles(item, written, [...path, index]));
    return createDoubles({ items: mergeDoubles(items) });
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const keys = Object.entries(value).flatMap(([key, item]) => {
    const found = findWrittenDoubles(item, written, [...path, key]);
    return found === undefined ? [] : [[key, found] as const];
  });
  return createDoubles({ keys });
}

/** The places with such a number in a text of valid JSON. */
export function findDoublesInJson(text: string): Doubles | undefined {
  if (!mayHoldDoubles(text)) return undefined;
  const { root } = readJsonTree(text, MAX_DEPTH);
  if (root === undefined) return undefined;
  return findWrittenDoubles(JSON.parse(text) as Json, (path) => writtenInJson(text, root, path), []);
}

/** The text of the scalar at an existing path. */
export function writtenInJson(text: string, root: Parameters<typeof findInJson>[0], path: Path): string {
  const { start, end } = findInJson(root, { path });
  return text.slice(start, end);
}
