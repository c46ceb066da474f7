import { expect, test } from 'vitest';
import { byteWords } from '../../src/parts/byte-words.ts';
import { agoWords, tookWords, zoneWords } from '../../src/parts/time-words.ts';

test('zoneWords has the distance from UTC, and a name', () => {
  expect(zoneWords(0)).toMatch(/^UTC[+-]\d\d:\d\d \(.+\)$/);
});

test('agoWords has one unit', () => {
  expect([1_000, 61_000, 7_300_000].map((ms) => agoWords(0, ms))).toEqual(['just now', '1 min ago', '2 h ago']);
});

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.5 KiB'],
  [3 * 2 ** 30, '3.0 GiB'],
])('byteWords writes %d as %s', (bytes, words) => {
  expect(byteWords(bytes)).toBe(words);
});

test('tookWords is the span until its end, or until now', () => {
  const [beganAt, endedAt] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:42.400Z'];
  const now = Date.parse('2026-01-01T00:00:10.000Z');
  expect(tookWords({ beganAt, endedAt })).toBe('42 s');
  expect(tookWords({ beganAt })).toBe('–');
  expect(tookWords({ beganAt }, now)).toBe('10 s');
  // A moment of a replay, before the end and before the start.
  expect(tookWords({ beganAt, endedAt }, now)).toBe('10 s');
  expect(tookWords({ beganAt, endedAt }, now - 60_000)).toBe('–');
  expect(tookWords({}, now)).toBe('–');
});
