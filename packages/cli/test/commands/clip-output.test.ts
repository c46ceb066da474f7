import { expect, test } from 'vitest';
import { clipOutput } from '../../src/commands/clip-output.ts';

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join('');

test('clipOutput returns a short text as it is', () => {
  expect(clipOutput('', { first: 1 })).toBe('');
  expect(clipOutput('one\ntwo', { first: 1 })).toBe('one\ntwo\n');
  expect(clipOutput('one\ntwo\n', { last: 2 })).toBe('one\ntwo\n');
});

test('clipOutput returns pages, and says how to get the next one', () => {
  const text = lines(1, 450);
  expect(clipOutput(text, { first: 1 })).toBe(
    `${lines(1, 200)}\n(lines 1 to 200 of 450; for the next page, call again with line 201)\n`,
  );
  expect(clipOutput(text, { first: 401 })).toBe(`${lines(401, 450)}\n(lines 401 to 450 of 450)\n`);
});

test('clipOutput says if there is no such line', () => {
  expect(clipOutput('one\n', { first: 7 })).toBe('\n(there is no line 7: the last one is line 1)\n');
});

test('clipOutput returns the last lines', () => {
  expect(clipOutput(lines(1, 450), { last: 3 })).toBe(`(the last 3 lines)\n${lines(448, 450)}`);
});

test('clipOutput is bounded whatever the text is, and has no control characters', () => {
  const long = `${'x'.repeat(100_000)}\n`.repeat(1_000);
  for (const part of [{ first: 1 }, { first: 500 }, { last: 1_000 }]) {
    const clipped = clipOutput(long, part);
    expect(clipped.length).toBeLessThan(21_000);
    expect(clipped).toContain(`${'x'.repeat(999)}…\n`);
  }
  expect(clipOutput('\u001b[31mred\u001b[0m\u0007\n', { last: 5 })).toBe('red\n');
});
