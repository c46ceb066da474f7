import { expect, test } from 'vitest';
import { clipLine, widthOf } from '../../src/text/clip-line.ts';

test.each([
  ['plain', 10, 'plain'],
  ['exactly ten', 11, 'exactly ten'],
  ['too long for it', 8, 'too lon…'],
  ['\u001b[32mgreen\u001b[39m', 5, '\u001b[32mgreen\u001b[39m'],
  ['\u001b[32mgreen and more\u001b[39m', 6, '\u001b[32mgreen…\u001b[0m'],
  ['数据准备', 8, '数据准备'],
  ['数据准备', 6, '数据…'],
  ['e\u0301e\u0301', 2, 'e\u0301e\u0301'],
])('clipLine(%j, %d) is %j', (line, columns, clipped) => {
  expect(clipLine(line, columns)).toBe(clipped);
  expect(widthOf(clipped)).toBeLessThanOrEqual(columns);
});
