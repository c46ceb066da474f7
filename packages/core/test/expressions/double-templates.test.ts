import { describe, expect, it } from 'vitest';
import { fromDoubleTemplates, toDoubleTemplates } from '../../src/expressions/double-templates.ts';

const NUMBER = { number: true } as const;

describe('toDoubleTemplates', () => {
  it('toDoubleTemplates writes the first whole number of each place as a double', () => {
    const value = [{ a: 0.5, b: 7 }, { a: -1, b: 7, c: ['x', null, 3] }, { a: 2 }];
    const doubles = { items: { keys: { a: NUMBER, c: { items: NUMBER } } } };
    expect(toDoubleTemplates(value, doubles)).toEqual([
      { a: 0.5, b: 7 },
      { a: '${{ -1.0 }}', b: 7, c: ['x', null, '${{ 3.0 }}'] },
      { a: 2 },
    ]);
    expect(toDoubleTemplates(value, undefined)).toBe(value);
  });
});

describe('fromDoubleTemplates', () => {
  it('fromDoubleTemplates reads them back, and no other template', () => {
    const value = [
      { a: '${{ -1.0 }}', t: '${{ params.x }}' },
      { a: 2, t: '1.0' },
    ];
    expect(fromDoubleTemplates(value)).toEqual({
      value: [
        { a: -1, t: '${{ params.x }}' },
        { a: 2, t: '1.0' },
      ],
      doubles: { items: { keys: { a: NUMBER } } },
    });
    const other = { list: ['${{ 1 }}', 'x${{ 1.0 }}'] };
    expect(fromDoubleTemplates(other).value).toBe(other);
  });
});
