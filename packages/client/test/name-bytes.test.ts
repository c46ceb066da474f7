import { expect, test } from 'vitest';
import { bytesToName, printableName } from '../src/name-bytes.ts';

test.each([
  ['plain, with ünïcode 🎉', 'plain, with ünïcode 🎉'],
  [bytesToName(Buffer.from([0x63, 0xe9])), 'c\\xe9'],
  ['x\n::error::y', 'x\\x0a::error::y'],
  ['10 %\r', '10 %\\x0d'],
  ['\u001b[2J\u0000\u007f', '\\x1b[2J\\x00\\x7f'],
  ['\u0085\u009b8m', '\\xc2\\x85\\xc2\\x9b8m'],
  ['\u202egnp.exe', '\\xe2\\x80\\xaegnp.exe'],
  ['a\u2028b\u2067c\u061c', 'a\\xe2\\x80\\xa8b\\xe2\\x81\\xa7c\\xd8\\x9c'],
])('printableName writes %j on one line, without characters that hide others', (name, shown) => {
  expect(printableName(name)).toBe(shown);
});
