import { describe, expect, it } from 'vitest';
import { typedFromCel, withDoubles } from '../../src/expressions/cel-values.ts';

const NUMBER = { number: true } as const;

describe('typedFromCel', () => {
  it('typedFromCel names the places of doubles, whole or not, and of no integers', () => {
    const value = new Map<string, unknown>([
      ['a', [1, 2n]],
      ['b', 3n],
      ['c', { d: 4 }],
    ]);
    expect(typedFromCel(value)).toEqual({
      value: { a: [1, 2], b: 3, c: { d: 4 } },
      doubles: { keys: { a: { items: NUMBER }, c: { keys: { d: NUMBER } } } },
    });
    expect(typedFromCel([1n, 'x']).doubles).toBeUndefined();
  });
});

describe('withDoubles', () => {
  it('withDoubles converts only the integers at these places', () => {
    const value = [
      new Map<string, unknown>([
        ['a', 1n],
        ['b', 2n],
        ['c', 'x'],
      ]),
      { a: 3n, b: 4n },
      5n,
    ];
    expect(withDoubles(value, { items: { keys: { a: NUMBER, c: NUMBER } } })).toEqual([
      new Map<string, unknown>([
        ['a', 1],
        ['b', 2n],
        ['c', 'x'],
      ]),
      new Map<string, unknown>([
        ['a', 3],
        ['b', 4n],
      ]),
      5n,
    ]);
  });

  it('withDoubles rejects a small value that stands for many', () => {
    let value: unknown = 1n;
    let doubles: object = NUMBER;
    for (let depth = 0; depth < 40; depth++) {
      value = [value, value];
      doubles = { items: doubles };
    }
    expect(() => withDoubles(value, doubles)).toThrow('the result holds more than 2000000 values');
  });
});
