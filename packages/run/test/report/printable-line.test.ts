import { expect, test } from 'vitest';
import { printableLine } from '../../src/report/printable-line.ts';

test.each([
  ['plain, with ünïcode 🎉', 'plain, with ünïcode 🎉'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]0;title\u0007after', 'after'],
  ['\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['\u001b(Bx\u001bcy', 'xy'],
  ['10 %\r50 %\r100 %\r', '100 %'],
  ['a\u0000\u0007\u0008\u009b2Jb', 'ab'],
  ['\u202egnp.exe', 'gnp.exe'],
  ['a\tb', 'a    b'],
  ['a\ufffe\uffffb', 'ab'],
  ['\u001b[', ''],
  ['\u001b]never ends', ''],
])('printableLine keeps what is to be read of %j', (line, shown) => {
  expect(printableLine(line)).toBe(shown);
});
