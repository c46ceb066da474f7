import { expect, test } from 'vitest';
import { parseCsv } from '../../src/parts/parse-csv.ts';

test.each([
  [
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['a\r\n"x, ""y""\nz"\r\n', [['a'], ['x, "y"\nz']]],
  ['a,,\n', [['a', '', '']]],
  ['"open', [['open']]],
  ['', []],
])('parseCsv reads %j', (text, rows) => {
  expect(parseCsv(text)).toEqual(rows);
});
