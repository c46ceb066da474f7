import { expect, it } from 'vitest';
import { parseSize, renderSize, SIZE } from '../../src/config/parse-size.ts';

it.each([
  ['64MB', 64_000_000, '64 MB'],
  ['1.5GiB', 1.5 * 1024 ** 3, '1.6 GB'],
  ['1TiB', 1024 ** 4, '1.1 TB'],
  ['999.5KB', 999_500, '999.5 KB'],
  ['0.1B', 1, '1 B'],
])('%s', (text, bytes, rendered) => {
  expect(text).toMatch(SIZE);
  expect(parseSize(text)).toBe(bytes);
  expect(renderSize(bytes)).toBe(rendered);
});

it.each(['64', '0GB', '0.0MB', '5 GB', '5gb', '-1GB', '1e9B', ''])('a size is not %o', (text) => {
  expect(text).not.toMatch(SIZE);
});
