import type { Json } from '../model/json.ts';

const LONGEST = 80;

/** A value for a message: JSON, shortened if it is long, because a list may have a hundred thousand items. */
export function showJson(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
