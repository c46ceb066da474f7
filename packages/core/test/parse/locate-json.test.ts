import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { findInJson, readJsonTree } from '../../src/parse/locate-json.ts';
import { itWithData, unpack } from '../data.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The faults of `text`, each as its code and the text it covers. */
function faultsOf(text: string, maxDepth = 64): readonly string[] {
  return readJsonTree(text, maxDepth).faults.map(
    ({ code, message, start, end }) => `${code} ${start} ${JSON.stringify(text.slice(start, end))}: ${message}`,
  );
}

/** Every path through a value. */
function* pathsOf(value: Json, path: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
  yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) yield* pathsOf(item, [...path, Array.isArray(value) ? +key : key]);
}

function valueAt(value: Json, path: readonly (string | number)[]): Json {
  return path.reduce((at, key) => (at as Record<string, Json>)[key] as Json, value);
}

describe('readJsonTree', () => {
  it.each([
    ['{"a": 1 "b": 2}', ['syntax 8 "\\"b\\"": a `,` or a closing bracket is expected here']],
    ['{"a": 1,}', ['syntax 8 "}": a key in double quotes is expected here']],
    ['[1,]', ['syntax 3 "]": a JSON value is expected here']],
    ['{a: 1}', ['syntax 1 "a": not a JSON value']],
    ['{"a" 1}', ['syntax 5 "1": a `:` is expected after the key']],
    ['[nul]', ['syntax 1 "nul": not a JSON value']],
    ['[1.]', ['syntax 1 "1.": not a JSON number']],
    ['["a\n"]', ['syntax 1 "\\"a": this string has no closing quote']],
    ['["\\x"]', ['syntax 1 "\\"\\\\x\\"": this string has an invalid escape']],
    ['["\\u00g0"]', ['syntax 1 "\\"\\\\u00g0\\"": this string has an invalid Unicode escape']],
    ['["\t"]', ['syntax 1 "\\"\\t\\"": this string contains a control character']],
    ['{} {}', ['syntax 3 "{": text after the end of the document']],
    ['{} // a', ['syntax 3 "// a": JSON has no comments']],
    ['{"a": [1', ['syntax 8 "": the file ends too early']],
    ['', ['syntax 0 "": the file ends too early']],
  ])('reports the first error of syntax in %j', (text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });

  it('reports every duplicate key, also one written with an escape, and every integer beyond 2^53', () => {
    expect(faultsOf('{"a": 1, "b": {"c": 9007199254740993}, "\\u0061": 2, "b": 1.0000000000000000001}')).toEqual([
      'bad-number 20 "9007199254740993": the integer 9007199254740993 is beyond 2^53 and would be rounded; write it as a string',
      'duplicate-key 39 "\\"\\\\u0061\\"": duplicate key `a`',
      'duplicate-key 52 "\\"b\\"": duplicate key `b`',
    ]);
  });

  it('stops at the nesting limit', () => {
    expect(faultsOf('[[[1]]]', 3)).toEqual([]);
    expect(faultsOf('[[{"a": []}]]', 3)).toEqual(['too-deep 8 "[": nested deeper than 3 levels']);
    expect(faultsOf('['.repeat(1_000_000))).toEqual(['too-deep 64 "[": nested deeper than 64 levels']);
  });

  it('finds a fault in exactly the texts that JSON.parse rejects', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.constantFrom('', ',', '"', '{', ']', ':', '0', '-', 'e', '\\', '\u00a0'),
        (json, at, inserted) => {
          const place = at % (json.length + 1);
          const text = `${json.slice(0, place)}${inserted}${json.slice(place + (at % 2))}`;
          const syntax = readJsonTree(text, 64).faults.filter(({ code }) => code === 'syntax');
          expect(syntax.length === 0).toBe(isJson(text));
        },
      ),
    );
  });

  itWithData('finds a fault in exactly the files of the JSON test suite that JSON.parse rejects', () => {
    const directory = unpack('json-test-suite/test_parsing.tar.gz');
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.json'),
    );
    expect(files).toHaveLength(149);
    for (const file of files) {
      const text = readFileSync(join(directory, file), 'utf8');
      const faults = readJsonTree(text, 1000).faults;
      const isRejected = faults.some(({ code }) => code === 'syntax' || code === 'too-deep');
      expect(isRejected, file).toBe(!isJson(text));
    }
  });
});

describe('findInJson', () => {
  it('finds every value of a text, and its key where the value is a map or a list', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, 4), (value, indent) => {
        const json = JSON.parse(JSON.stringify(value)) as Json;
        const text = JSON.stringify(json, null, indent);
        const { root, faults } = readJsonTree(text, 64);
        fc.pre(faults.length === 0);
        if (root === undefined) throw new Error('no root');
        for (const path of pathsOf(json)) {
          const last = path.at(-1);
          const { start, end } = findInJson(root, { path });
          const found = text.slice(start, end);
          const at = valueAt(json, path);
          const isContainer = typeof at === 'object' && at !== null;
          if (last === undefined) expect(start).toBe(0);
          else if (typeof last === 'string' && isContainer) expect(JSON.parse(found)).toBe(last);
          else expect(JSON.parse(found)).toEqual(at);
          if (typeof last !== 'string') continue;
          const key = findInJson(root, { path, on: 'key' });
          expect(JSON.parse(text.slice(key.start, key.end))).toBe(last);
        }
      }),
    );
  });

  it('finds the nearest place of a path that does not exist', () => {
    const text = '{"a": {"b": [1]}}';
    const { root } = readJsonTree(text, 64);
    const textAt = (path: readonly (string | number)[]): string => {
      const { start, end } = findInJson(root!, { path });
      return text.slice(start, end);
    };
    expect(textAt(['x'])).toBe('{');
    expect(textAt(['a', 'x'])).toBe('"a"');
    expect(textAt(['a', 'b', 3])).toBe('"b"');
    expect(textAt(['a', 'b', 0, 'x'])).toBe('1');
  });
});
