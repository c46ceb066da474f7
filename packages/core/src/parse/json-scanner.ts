import type { Path, Spot } from './source-document.ts';

/** What is wrong with a JSON text, and where. */
export interface JsonFault {
  readonly code: 'syntax' | 'duplicate-key' | 'too-deep';
  readonly message: string;
  readonly start: number;
  readonly end: number;
  /** The first definition, of a duplicate key. */
  readonly first?: { readonly start: number; readonly end: number };
}

export interface JsonNode {
  readonly start: number;
  readonly end: number;
  /** Of an object, by key; of an array, by index as text. */
  readonly entries?: ReadonlyMap<
    string,
    { readonly keyStart: number; readonly keyEnd: number; readonly value: JsonNode }
  >;
}

/**
 * A strict JSON parser that keeps positions instead of values. It runs only for a file in which something is at fault:
 * `JSON.parse` is five times as fast and knows no places.
 */
export function scanJson(text: string, maxDepth: number): { root: JsonNode | undefined; faults: readonly JsonFault[] } {
  const faults: JsonFault[] = [];
  let at = 0;
  const stop = (message: string, start: number, code: JsonFault['code'] = 'syntax'): never => {
    throw { code, message, start, end: Math.min(start + 1, text.length) } satisfies JsonFault;
  };
  const space = (): void => {
    while (at < text.length && ' \t\n\r'.includes(text[at] ?? '')) at++;
  };
  const string = (): string => {
    const start = at;
    STRING.lastIndex = at;
    if (!STRING.test(text))
      return stop('a text that is not closed or holds a control character or a bad escape', start);
    at = STRING.lastIndex;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const collection = (depth: number, close: '}' | ']'): JsonNode => {
    const start = at++;
    const entries = new Map<string, { keyStart: number; keyEnd: number; value: JsonNode }>();
    space();
    if (text[at] === close) return { start, end: ++at, entries };
    for (let index = 0; ; index++) {
      space();
      const keyStart = at;
      let key = String(index);
      if (close === '}') {
        if (text[at] !== '"') stop('a key in double quotes is wanted here', at);
        key = string();
        const known = entries.get(key);
        if (known !== undefined) {
          faults.push({
            code: 'duplicate-key',
            message: `the key \`${key}\` stands twice in one map`,
            start: keyStart,
            end: at,
            first: { start: known.keyStart, end: known.keyEnd },
          });
        }
      }
      const keyEnd = at;
      space();
      if (close === '}' && text[at++] !== ':') stop('a `:` is wanted after the key', at - 1);
      entries.set(key, { keyStart, keyEnd, value: value(depth + 1) });
      space();
      if (text[at] === close) return { start, end: ++at, entries };
      if (text[at++] !== ',') stop(`a \`,\` or \`${close}\` is wanted here`, at - 1);
    }
  };
  const value = (depth: number): JsonNode => {
    space();
    const start = at;
    if (depth > maxDepth) stop(`nested deeper than ${maxDepth} levels`, at, 'too-deep');
    if (text[at] === '{') return collection(depth, '}');
    if (text[at] === '[') return collection(depth, ']');
    if (text[at] === '"') {
      string();
      return { start, end: at };
    }
    WORD.lastIndex = at;
    if (!WORD.test(text)) stop(at < text.length ? 'not a JSON value' : 'the file ends too early', at);
    at = WORD.lastIndex;
    return { start, end: at };
  };
  let root: JsonNode | undefined;
  try {
    root = value(1);
    space();
    if (at < text.length) stop('text after the end of the document', at);
  } catch (fault) {
    if (fault instanceof Error) throw fault;
    faults.push(fault as JsonFault);
  }
  return { root, faults };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

/** Offsets of the nearest node that exists on the way to `spot`. */
export function findInJson(root: JsonNode, spot: Spot): { start: number; end: number } {
  let node = root;
  let found: { start: number; end: number } = { start: root.start, end: root.start + 1 };
  const path: Path = spot.path;
  for (const [depth, key] of path.entries()) {
    const entry = node.entries?.get(String(key));
    if (entry === undefined) return found;
    const last = depth === path.length - 1;
    found =
      (last && spot.on === 'key') || entry.value.entries !== undefined
        ? { start: entry.keyStart, end: Math.max(entry.keyEnd, entry.keyStart + 1) }
        : entry.value;
    node = entry.value;
  }
  return found;
}
