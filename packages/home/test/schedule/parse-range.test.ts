import { expect, test } from 'vitest';
import { parseRange } from '../../src/schedule/parse-range.ts';

function read(text: string): string[] | string {
  const range = parseRange(text, 'Europe/Berlin');
  return range.ok ? [range.value.from, range.value.to].map((time) => new Date(time).toISOString()) : range.error;
}

test('parseRange takes days whole, by the clocks of the time zone', () => {
  expect(read('2026-01-01..2026-01-31')).toEqual(['2025-12-31T23:00:00.000Z', '2026-01-31T22:59:59.999Z']);
  expect(read('2026-10-25..2026-10-25')).toEqual(['2026-10-24T22:00:00.000Z', '2026-10-25T22:59:59.999Z']);
  expect(read('2026-07-01T06:30..2026-07-01T07:00')).toEqual(['2026-07-01T04:30:00.000Z', '2026-07-01T05:00:00.000Z']);
});

test.each([
  '',
  '2026-01-01',
  '2026-01-01..',
  '2026-02-30..2026-03-01',
  '2026-01-01..x',
  '2026-01-01T25:00..2026-01-02',
])('parseRange rejects "%s"', (text) => expect(read(text)).toContain(`could not read the range "${text}"`));

test('parseRange rejects a range that ends before it begins', () => {
  expect(read('2026-01-02..2026-01-01')).toContain('ends before it begins');
});
