import { expect, test } from 'vitest';
import { readValueFile } from '../../src/tables/read-value-file.ts';
import { writeValue } from '../../src/tables/write-value.ts';

function rewrite(file: string, text: string): unknown {
  const read = readValueFile({ file, text });
  return read.ok ? writeValue(read.value.value, read.value.doubles) : read.error.map(({ message }) => message);
}

test.each([
  ['a.yaml', 'abc', 'abc'],
  ['a.yaml', '[1.0, 2, { a: 3e0, b: 4 }]', '[1.0,2.0,{"a":3.0,"b":4}]'],
  ['a.yml', '- 1\n- x\n', '[1,"x"]'],
  ['a.JSON', '{"a": [1.0], "b": 1}', '{"a":[1.0],"b":1}'],
  ['a.json', '5', '5'],
  ['a.csv', 'a,b\n1,2\n', '[{"a":"1","b":"2"}]'],
])('writeValue writes the value of %s %j as a text with the same meaning', (file, text, written) => {
  expect(rewrite(file, text)).toBe(written);
});

test('readValueFile rejects a name that does not say what the file contains', () => {
  const names = '.csv, .tsv, .json, .yaml, .yml';
  expect(rewrite('dir.d/a', '1')).toEqual([`could not read a value from dir.d/a: its name must end in ${names}`]);
});
