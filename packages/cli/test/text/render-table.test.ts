import { expect, test } from 'vitest';
import { renderTable } from '../../src/text/render-table.ts';
import { listSome } from '../../src/text/shorten.ts';

test('renderTable aligns columns and leaves no blanks at the ends of lines', () => {
  expect(
    renderTable([
      ['STEP', 'STATE', 'WHY'],
      ['fit', 'succeeded', ''],
      ['evaluate', 'failed', 'exit code 3'],
    ]),
  ).toBe('STEP      STATE      WHY\nfit       succeeded\nevaluate  failed     exit code 3\n');
});

test('renderTable bounds each cell, and keeps both ends of a name', () => {
  const long = `${'a'.repeat(5000)}-z`;
  const table = renderTable([
    ['STEP', 'STATE', 'WHY'],
    [long, 'failed', 'x'.repeat(5000)],
    ['fit', 'failed', ''],
  ]);
  const lines = table.split('\n');
  expect(lines[1]).toMatch(/^a{23}…a{22}-z {2}failed {2}x+…x+$/);
  expect(lines[2]).toBe(`fit${' '.repeat(47)}failed`);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(300);
});

test('renderTable aligns what follows wide letters', () => {
  expect(
    renderTable([
      ['漢字', 'x'],
      ['fit', 'y'],
    ]),
  ).toBe('漢字  x\nfit   y\n');
});

test('listSome names as many as have room, and counts the others', () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `step-${at}`);
  expect(listSome(names, 16)).toBe('step-0, step-1 and 9,998 more');
  expect(listSome(['a', 'b'], 30)).toBe('a, b');
  expect(listSome(['a'.repeat(100)], 9)).toBe('aaaa…aaaa');
});
