import { expect, test } from 'vitest';
import { compareCreateTimes } from '../../src/session/compare-create-times.ts';

const FIRST = '2026-01-01T00:00:01.600Z';

test.each([
  ['the same text', FIRST, 'same'],
  ['nothing', undefined, 'same'],
  ['an empty text', '', 'same'],
  ['another offset', '2026-01-01T08:00:01.600+08:00', 'same'],
  ['cut to seconds', '2026-01-01T00:00:01Z', 'same'],
  ['rounded to seconds', '2026-01-01T00:00:02Z', 'same'],
  ['cut to minutes', '2026-01-01T00:00Z', 'same'],
  ['microseconds', '2026-01-01T00:00:01.599999Z', 'same'],
  ['a little later', '2026-01-01T00:00:01.610Z', 'near'],
  ['drifting by minutes', '2026-01-01T00:04:31.600Z', 'near'],
  ['local time without its zone', '2026-01-01T08:00:01', 'near'],
  ['local time behind UTC', '2025-12-31T14:30:01', 'near'],
  ['local time with a blank', '2026-01-01 08:00:01', 'near'],
  ['what is no time', 'a moment ago', 'near'],
  ['ten minutes later', '2026-01-01T00:10:01.600Z', 'far'],
  ['an hour earlier', '2025-12-31T23:00:01.600Z', 'far'],
  ['no time zone of this world', '2026-01-01T20:00:01', 'far'],
  ['ten minutes beside a zone', '2026-01-01T08:07:31', 'far'],
])('compareCreateTimes takes %s', (_, seen, expected) => {
  expect(compareCreateTimes(FIRST, seen)).toBe(expected);
  expect(compareCreateTimes(seen, FIRST)).toBe(expected);
});

test('compareCreateTimes compares two times without a zone', () => {
  expect(compareCreateTimes('2026-01-01T08:00:01', '2026-01-01T08:00:01.2')).toBe('same');
  expect(compareCreateTimes('2026-01-01T08:00:01', '2026-01-01T08:03:00')).toBe('near');
  expect(compareCreateTimes('2026-01-01T08:00:01', '2026-01-01T09:00:01')).toBe('far');
});
