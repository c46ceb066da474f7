import { expect, it } from 'vitest';
import { durationSchema, sizeSchema } from '../../src/schema/amount-schemas.ts';

it.each(['64MB', '1.5GiB', '1TiB', '999.5KB', '1B'])('a size is %s', (text) => {
  expect(sizeSchema.parse(text)).toBe(text);
});

it.each(['64', '0GB', '0.0MB', '5 GB', '5gb', '-1GB', '1e9B', '', 64])('a size is not %o', (value) => {
  expect(sizeSchema.safeParse(value).error?.issues).toMatchObject([{ message: expect.stringContaining('500GiB') }]);
});

it.each(['0s', '500ms', '1.5h', '1h30m', '7d', '36500d'])('a duration is %s', (text) => {
  expect(durationSchema().parse(text)).toBe(text);
});

it.each(['7', '7 d', '-1s', '1e3s', '', 'often', 7])('a duration is not %o', (value) => {
  expect(durationSchema().safeParse(value).error?.issues).toMatchObject([{ message: expect.stringContaining('90s') }]);
});

it('names the bound that a duration exceeds', () => {
  const bounded = durationSchema({ min: '1m', max: '23d' });
  expect(bounded.parse('60s')).toBe('60s');
  expect(bounded.safeParse('59s').error?.issues).toMatchObject([{ message: 'must be at least 1m' }]);
  expect(bounded.safeParse('3w3d').error?.issues).toMatchObject([{ message: 'must be at most 23d' }]);
});
