import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/index.ts';
import { findDoublesInJson, mayHoldDoubles } from '../../src/parse/find-written-doubles.ts';

const NUMBER = { number: true } as const;

describe('mayHoldDoubles', () => {
  it.each(['1.0', 'a: 1.\n', 'a: -1.0 # x', '[1, 2.0]', '{"a":1.0}', "{'a':1e3}", '- 1.00', '&x 1E+2\n', '+1.0,'])(
    'mayHoldDoubles finds %s',
    (text) => expect(mayHoldDoubles(text)).toBe(true),
  );

  it.each(['a: 1.5', 'image: x:1.0', 'a: "1.0"', 'version: 1', 'v1.0', 'a: 1.0.0', '1.0-x', 'x1e3', '0x1e3'])(
    'mayHoldDoubles does not find %s',
    (text) => expect(mayHoldDoubles(text)).toBe(false),
  );
});

describe('findDoublesInJson', () => {
  it.each<[string, Json | undefined]>([
    ['[1, 2.0]', { items: NUMBER }],
    ['{"a": [1.0], "b": [1], "c": 1.5, "d": "1.0", "e": 1e1}', { keys: { a: { items: NUMBER }, e: NUMBER } }],
    ['[{"a": 1}, {"a": 1.0}]', { items: { keys: { a: NUMBER } } }],
    [
      '{"constructor": 1.0, "__proto__": 2.0}',
      JSON.parse('{"keys": {"constructor": {"number": true}, "__proto__": {"number": true}}}'),
    ],
    ['[1, 2]', undefined],
    ['[1.0', undefined],
  ])('findDoublesInJson finds the places in %s', (text, doubles) => {
    expect(findDoublesInJson(text)).toEqual(doubles);
  });
});
