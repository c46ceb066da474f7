import { expect, test } from 'vitest';
import { parseAddress, parseStepAddress } from '../../src/runs/parse-address.ts';

test.each([
  ['fit', { step: 'fit' }],
  ['fit/k-1', { step: 'fit', cell: 'k-1' }],
  ['fit.model', { step: 'fit', output: 'model' }],
  ['fit/k-1.model', { step: 'fit', cell: 'k-1', output: 'model' }],
  ['fit.model/sub/a.txt', { step: 'fit', output: 'model', path: 'sub/a.txt' }],
  ['fit.model/sub/', { step: 'fit', output: 'model', path: 'sub' }],
  ['fit.model/', { step: 'fit', output: 'model' }],
  ['fit/k-1.model/a.b/c', { step: 'fit', cell: 'k-1', output: 'model', path: 'a.b/c' }],
])('parseAddress reads %s', (text, expected) => {
  expect(parseAddress(text)).toEqual({
    ok: true,
    value: { cell: undefined, output: undefined, path: undefined, ...expected },
  });
});

test.each(['', '/', 'fit/', 'fit.', '.model', 'fit/a/b', 'fit.a.b'])('parseAddress rejects %j', (text) => {
  expect(parseAddress(text)).toMatchObject({ ok: false, error: { exitCode: 2 } });
});

test('parseStepAddress rejects outputs', () => {
  expect(parseStepAddress('fit/k-1')).toMatchObject({ ok: true });
  expect(parseStepAddress('fit.model')).toMatchObject({
    error: { message: 'could not use fit.model: it names an output; expected STEP or STEP/CELL' },
  });
});
