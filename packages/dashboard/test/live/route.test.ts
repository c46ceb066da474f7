import { expect, test } from 'vitest';
import { linkTo, parseRoute } from '../../src/live/route.ts';

test('linkTo and parseRoute are inverse for every name', () => {
  const path = ['runs', 'a/b', 'ü ?#&=%', '<b>'];
  const { path: parsed, query } = parseRoute(linkTo(path, { q: 'x&y=#1', empty: '', none: undefined }));
  expect(parsed).toEqual(path);
  expect([...query]).toEqual([['q', 'x&y=#1']]);
});

test('parseRoute accepts what people paste', () => {
  expect(parseRoute('').path).toEqual([]);
  expect(parseRoute('#/runs/%zz').path).toEqual(['runs', '%zz']);
});
