import { expect, test } from 'vitest';
import { byteWords } from '../../src/parts/byte-words.ts';
import { agoWords, durationWords } from '../../src/parts/time-words.ts';

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_500, '1.5 s'],
  [65_000, '1 min 5 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 d 1 h'],
])('durationWords writes %d as %s', (ms, words) => {
  expect(durationWords(ms)).toBe(words);
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
