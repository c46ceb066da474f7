import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tailLines } from '../../src/runs/tail-lines.ts';

const tail = (text: string, count: number) => tailLines(Buffer.from(text), count).toString();

it.each([
  ['a\nb\nc\n', 2, 'b\nc\n'],
  ['a\nb\nc', 2, 'b\nc'],
  ['a\nb\n', 5, 'a\nb\n'],
  ['\n\n\n', 2, '\n\n'],
  ['a\n', 0, ''],
  ['a', 0, ''],
  ['', 3, ''],
])('of %j, the last %i lines are %j', (text, count, expected) => {
  expect(tail(text, count)).toBe(expected);
});

it('are those of a plain split', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-c]{0,2}$/)), fc.nat(5), (lines, count) => {
      const text = lines.map((line) => `${line}\n`).join('');
      const expected = count === 0 ? [] : lines.slice(-count);
      expect(tail(text, count)).toBe(expected.map((line) => `${line}\n`).join(''));
    }),
  );
});
