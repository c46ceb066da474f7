import fc from 'fast-check';
import { expect, test } from 'vitest';
import { POINT_IN_TIME, SECONDS } from '../../src/model/time-format.ts';

test('both formats read what they have written', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 40), (at) => {
      for (const { parse, render } of [POINT_IN_TIME, SECONDS]) if (at < 1e12) expect(parse(render(at))).toBe(at);
    }),
  );
});

test('SECONDS reads seconds with a fraction, and nothing else', () => {
  expect(SECONDS.parse('2.5')).toBe(2_500);
  expect(SECONDS.render(2_500.4)).toBe('2.5');
  for (const text of ['', '-1', '1e3', '2026-01-31', 'Infinity', '9'.repeat(30)]) expect(SECONDS.parse(text)).toBeNaN();
});
