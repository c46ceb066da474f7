import { expect, test } from 'vitest';
import { splitAccount } from '../../src/command-line/split-account.ts';

test('splitAccount reads an account with and without its cluster', () => {
  const both = { account: 'physics', cluster: 'main' };
  expect(splitAccount({ account: 'main/physics', cpu: 2 })).toEqual({ ok: true, value: { ...both, cpu: 2 } });
  expect(splitAccount({ account: 'main/physics', cluster: 'main' })).toEqual({ ok: true, value: both });
  for (const options of [{}, { account: 'physics' }, { cluster: 'main' }, both]) {
    expect(splitAccount(options)).toEqual({ ok: true, value: options });
  }
});

test.each(['', '/', 'main/', '/physics', 'a/b/c'])('splitAccount rejects %j', (account) => {
  expect(splitAccount({ account })).toMatchObject({ ok: false, error: expect.stringContaining(`not '${account}'`) });
});

test('splitAccount rejects an account on another cluster than the named one', () => {
  expect(splitAccount({ account: 'main/physics', cluster: 'east' })).toMatchObject({
    error: "option '--account main/physics' is on another cluster than '--cluster east'; name only one of them",
  });
});
