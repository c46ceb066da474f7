import { expect, test } from 'vitest';
import { renderDuration } from '../../src/render/render-duration.ts';

test.each([
  [0, '0 ms'],
  [99.4, '99 ms'],
  [99.6, '0.1 s'],
  [420, '0.4 s'],
  [9_949, '9.9 s'],
  [9_950, '10 s'],
  [59_400, '59 s'],
  [59_600, '1 min 00 s'],
  [185_000, '3 min 05 s'],
  [3_599_600, '1 h 00 min'],
  [7_620_000, '2 h 07 min'],
  [273_600_000, '3 d 04 h'],
  [-5, '0 ms'],
])('renderDuration tells %d ms as %s', (milliseconds, text) => {
  expect(renderDuration(milliseconds)).toBe(text);
});
