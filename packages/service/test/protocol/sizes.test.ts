import { expect, it } from 'vitest';
import { renderSize } from '../../src/protocol/sizes.ts';

it.each([
  [64_000_000, '64 MB'],
  [1.5 * 1024 ** 3, '1.6 GB'],
  [1024 ** 4, '1.1 TB'],
  [999_500, '999.5 KB'],
  [1, '1 B'],
])('%s bytes', (bytes, rendered) => {
  expect(renderSize(bytes)).toBe(rendered);
});
