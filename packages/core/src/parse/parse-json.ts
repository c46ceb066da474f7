import type { Json } from '../model/json.ts';
import { MAX_DEPTH } from '../model/json-fault.ts';
import { endOfString, findLargeInteger } from '../model/large-integer.ts';
import { MAX_FILE_CHARACTERS } from './limits.ts';

/** The outcome of the fast parser, which does not report positions. */
export type FastJson =
  /** The value of the text, without duplicate keys and within the limits. */
  | { readonly kind: 'value'; readonly value: Json }
  /** The text has faults, which `readJsonTree` finds. */
  | { readonly kind: 'faulty' }
  /** Not JSON. It may still be YAML. */
  | { readonly kind: 'notJson' };

/**
 * `JSON.parse` with the checks that it does not make: duplicate keys, nesting depth, and rounded numbers. One pass
 * counts the keys in the text, one walk counts those of the value: they differ exactly if a key is duplicated.
 */
export function parseJson(text: string): FastJson {
  if (text.length > MAX_FILE_CHARACTERS) return { kind: 'faulty' };
  const scan = countKeys(text);
  if (scan.depth > MAX_DEPTH) return { kind: 'faulty' };
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return { kind: 'notJson' };
  }
  if (findLargeInteger(text) !== undefined) return { kind: 'faulty' };
  return countOwnKeys(value) === scan.keys ? { kind: 'value', value } : { kind: 'faulty' };
}

/** Outside strings, every `:` of a JSON text follows a key. */
function countKeys(text: string): { keys: number; depth: number } {
  let keys = 0;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x22) {
      at = endOfString(text, at);
      if (at === -1) break;
    } else if (character === 0x3a) keys++;
    else if (character === 0x7b || character === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (character === 0x7d || character === 0x5d) depth--;
  }
  return { keys, depth: deepest };
}

/** Recursion is safe: the depth was bounded before. */
function countOwnKeys(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') keys += countOwnKeys(item);
    return keys;
  }
  const map = value as Readonly<Record<string, Json>>;
  for (const key in map) {
    keys++;
    const item = map[key];
    if (typeof item === 'object') keys += countOwnKeys(item);
  }
  return keys;
}
