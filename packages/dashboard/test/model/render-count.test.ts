import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderCount } from '../../src/model/render-count.ts';

test('separates the thousands of whole numbers as English does', () => {
  fc.assert(
    fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (count) => {
      expect(renderCount(count)).toBe(count.toLocaleString('en'));
    }),
  );
  expect([0, 999, 1_000, 1_234_567].map(renderCount)).toEqual(['0', '999', '1,000', '1,234,567']);
});
