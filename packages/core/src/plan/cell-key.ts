import type { Json } from '../model/json.ts';

const LONGEST = 48;

/**
 * A readable key from the values of a cell: `{model: 'knn', k: 3}` is `model-knn-k-3`. Lists and maps appear as a hash.
 */
export function matrixKey(matrix: Readonly<Record<string, Json>>): string {
  let key = '';
  for (const axis in matrix) key += `${key === '' ? '' : '-'}${word(axis)}-${valueWord(matrix[axis] ?? null)}`;
  return bounded(key, matrix);
}

/** A readable key of a `foreach` item: maps by their fields as in a matrix, lists by their items. */
export function itemKey(item: Json): string {
  if (typeof item !== 'object' || item === null) return bounded(valueWord(item), item);
  const words = Array.isArray(item)
    ? item.map((value: Json) => valueWord(value))
    : Object.entries(item).flatMap(([name, value]) => [word(name), valueWord(value)]);
  return bounded(joinWords(words), item);
}

/** The key that a step defines for an item; `item` distinguishes keys without letters or digits. */
export function givenKey(text: string, item: Json): string {
  return bounded(word(text), item);
}

/** Uses no more of a large item than can be shown. */
function joinWords(words: readonly string[]): string {
  let key = '';
  for (const word of words) {
    if (key.length > LONGEST) break;
    if (word !== '') key += `${key === '' ? '' : '-'}${word}`;
  }
  return key;
}

/**
 * Makes keys unique: equal keys of different cells get a hash of the cell's values, and repeated equal cells a number.
 * A key thus never depends on the order of different cells.
 */
export function uniqueKeys(keys: readonly string[], valueAt: (index: number) => Json): readonly string[] {
  const taken = new Map<string, number>();
  for (const key of keys) taken.set(key, (taken.get(key) ?? 0) + 1);
  if (taken.size === keys.length) return keys;
  const texts = keys.map((key, index) => ((taken.get(key) ?? 0) > 1 ? JSON.stringify(valueAt(index)) : ''));
  const given = new Set<string>();
  const seen = new Map<string, number>();
  return keys.map((key, index) => {
    if ((taken.get(key) ?? 0) === 1) return key;
    const hashed = `${key}-${shortHash(texts[index] ?? '')}`;
    let times = seen.get(hashed) ?? 0;
    let unique: string;
    // The new key may already belong to another cell.
    do unique = ++times === 1 ? hashed : `${hashed}-${times}`;
    while (taken.has(unique) || given.has(unique));
    seen.set(hashed, times);
    given.add(unique);
    return unique;
  });
}

function bounded(key: string, value: Json): string {
  if (key === '') return `cell-${shortHash(JSON.stringify(value))}`;
  return key.length <= LONGEST
    ? key
    : `${key.slice(0, LONGEST - 8).replace(/-+$/, '')}-${shortHash(JSON.stringify(value))}`;
}

function valueWord(value: Json): string {
  if (typeof value === 'number') return numberWord(value);
  if (typeof value === 'string') return word(value) || shortHash(value);
  if (typeof value === 'object' && value !== null) return shortHash(JSON.stringify(value));
  return String(value);
}

/** `0.5` is `0p5`, `-1` is `m1`. */
export function numberWord(value: number): string {
  if (Number.isSafeInteger(value) && value >= 0) return String(value);
  return String(value)
    .replace('-', 'm')
    .replace('.', 'p')
    .replace(/[^a-z0-9]+/g, '');
}

function word(text: string): string {
  return /^[a-z0-9]+$/.test(text)
    ? text
    : text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-+|-+$/g, '');
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Seven letters and digits (35 bits, FNV-1a) that distinguish values with the same readable key. Not for identity. */
function shortHash(text: string): string {
  let high = 0x811c9dc5;
  let low = 0x9dc5811c;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ (code + at), 0x01000193);
  }
  let letters = '';
  for (let digit = 0; digit < 4; digit++) letters += ALPHABET[(high >>> (digit * 5)) & 31];
  for (let digit = 0; digit < 3; digit++) letters += ALPHABET[(low >>> (digit * 5)) & 31];
  return letters;
}
