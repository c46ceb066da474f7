import { expect, test } from 'vitest';
import { isLinkable, linkTo, parseRoute, portPath } from '../../src/live/route.ts';

test('linkTo and parseRoute are inverse for every name', () => {
  const path = ['runs', 'a/b', 'ü ?#&=%', '<b>'];
  const { path: parsed, query } = parseRoute(linkTo(path, { q: 'x&y=#1', empty: '', none: undefined }));
  expect(parsed).toEqual(path);
  expect([...query]).toEqual([['q', 'x&y=#1']]);
});

test('linkTo takes every name, and says which can be requested', () => {
  const name = 'caf\udce9';
  expect(linkTo(['runs', name])).toBe('#/runs/caf%EF%BF%BD');
  expect([name, 'café', 'a\u{1f600}b'].map(isLinkable)).toEqual([false, true, true]);
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
