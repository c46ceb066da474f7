import { expect, test } from 'vitest';
import { linkTo, parseRoute, portPath } from '../../src/live/route.ts';

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
test('an input and an output of one name have different addresses', () => {
  const addresses = (['input', 'output'] as const).map((kind) =>
    linkTo(portPath({ runId: 'r', step: 's/1', cell: 2, port: { kind, name: 'data' } })),
  );
  expect(addresses.map((address) => parseRoute(address).path)).toEqual([
    ['runs', 'r', 'data', 's/1', '2', 'input', 'data'],
    ['runs', 'r', 'data', 's/1', '2', 'output', 'data'],
  ]);
});
