import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTable } from '../../src/index.ts';
import type { Columns } from '../../src/tables/column-type.ts';

function read(text: string, { file = 't.csv', columns }: { file?: string; columns?: Columns } = {}) {
  const rows = readTable({ file, text, columns });
  return rows.ok
    ? rows.value
    : rows.error.map(({ message, range, hint }) => [range?.line, message, ...(hint ? [hint] : [])]);
}

test.each([
  ['a mark of the byte order', '\ufeffid,n\nS1,2\n', [{ id: 'S1', n: '2' }]],
  [
    'CRLF',
    'id,n\r\nS1,2\r\nS2,3\r\n',
    [
      { id: 'S1', n: '2' },
      { id: 'S2', n: '3' },
    ],
  ],
  ['different ends of lines', 'id\r\nS1\nS2\rS3', [{ id: 'S1' }, { id: 'S2' }, { id: 'S3' }]],
  ['quotes', 'id,note\nS1,"a, ""b""\r\nc"\n', [{ id: 'S1', note: 'a, "b"\r\nc' }]],
  ['empty lines', '\nid,n\n\nS1,\n\n', [{ id: 'S1', n: '' }]],
  ['spaces, which belong to the values', 'id,n\n S1 ,007\n', [{ id: ' S1 ', n: '007' }]],
  ['no rows', 'id,n\n', []],
])('readTable reads a table with %s', (_, text, rows) => {
  expect(read(text)).toEqual(rows);
});

test('readTable reads tabs if the name of the file says so', () => {
  expect(read('id\tnote\nS1\ta,b\n', { file: 'T.TSV' })).toEqual([{ id: 'S1', note: 'a,b' }]);
});

test('readTable converts the values of columns with a type', () => {
  const columns = { lanes: 'integer', rate: 'number', paired: 'boolean', id: 'string' } as const;
  expect(read('id,lanes,rate,paired\n1,2,3,true\n', { columns })).toEqual([
    { id: '1', lanes: 2, rate: 3, paired: true },
  ]);
});

test.each([
  ['', [[undefined, 't.csv is empty; its first line must name the columns']]],
  ['\n\n', [[undefined, 't.csv is empty; its first line must name the columns']]],
  ['id,id\nS1,S2\n', [[1, 'two columns have the name `id`']]],
  ['\nid, \nS1,S2\n', [[2, 'column 2 has no name']]],
  ['id,__proto__\nS1,S2\n', [[1, 'the name `__proto__` cannot be used']]],
  ['id,n\nS1,2\n"S\r\n2",3\n\nS3\nS4,5,6\n', [[6, 'the row has 1 value, but the first row names 2 columns']]],
  ['id,n\nS1,2\nS2,"3\nS3,4\n', [[3, 'a value begins with a quote that is not closed']]],
  ['id,n\nS1,a"b\n', [[2, 'a value contains a quote; write the whole value in quotes, and quotes in it twice']]],
  ['id,n\n"S1"x,2\n', [[2, 'a value continues after its closing quote; write a quote in a value twice']]],
  [`id,n\nS1,"${'x'.repeat(2 ** 20)}"\n`, [[2, 'the row is longer than 1048576 bytes']]],
  [`${'c,'.repeat(1000)}c\n`, [[1, 'the table has 1001 columns; the maximum is 1000']]],
])('readTable rejects the table %#', (text, faults) => {
  expect(read(text)).toEqual(faults);
});

test.each([
  ['lanes', 'integer', '2.5', 'column `lanes` is "2.5", which is not of type integer'],
  ['lanes', 'integer', '007', 'column `lanes` is "007", which is not of type integer'],
  ['lanes', 'integer', '', 'column `lanes` is "", which is not of type integer'],
  ['lanes', 'integer', '9007199254740993', /column `lanes` contains an unsupported number: .* beyond 2\^53/],
  ['lanes', 'number', '1e999', 'column `lanes` is "1e999", which is not of type number'],
  ['lanes', 'number', '"1"', 'column `lanes` is "\\"1\\"", which is not of type number'],
  ['lanes', 'boolean', 'TRUE', 'column `lanes` is "TRUE", which is not of type boolean'],
] as const)('readTable rejects in column %s of type %s the value %j', (name, type, value, message) => {
  const text = `id,${name}\nS1,${JSON.stringify(value).replaceAll('\\"', '""')}\n`;
  const expected = typeof message === 'string' ? message : expect.stringMatching(message);
  expect(read(text, { columns: { [name]: type } })).toEqual([[2, expected]]);
});

test('readTable names a declared column that the table does not have', () => {
  expect(read('id,lane\nS1,2\n', { columns: { lanes: 'integer' } })).toEqual([
    [1, 'the table has no column `lanes`', 'did you mean `lane`?'],
  ]);
});

test('readTable describes at most 20 faults of a large table, in little time', () => {
  const text = `id,n\n${'S1,x\n'.repeat(50_000)}`;
  expect(read(text, { columns: { n: 'integer' } })).toHaveLength(20);
});

test('readTable reads what is written with quotes, whatever it is', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', '\t', ' ', 'é', '\ufeff') });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell)), fc.constantFrom('\n', '\r\n', '\r'), (rows, end) => {
      const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
      const text = ['a,b', ...rows.map((row) => row.map(quote).join(','))].join(end);
      expect(read(text)).toEqual(rows.map(([a, b]) => ({ a, b })));
    }),
    { numRuns: 50 },
  );
});
