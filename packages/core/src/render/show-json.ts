import type { Json } from '../model/json.ts';

const LONGEST = 80;

/** A value as a message quotes it: JSON, cut where it is long, since a list may have a hundred thousand items. */
export function showJson(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
