import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openSecrets, sealSecrets } from '../../src/hosted/seal-secrets.ts';

const key = randomBytes(32);
const context = 'main/physics/aaaaaaaaaaaaa';

test('secrets are opened only with their key, for their run, and unchanged', () => {
  const secrets = { token: 'val\u00fce', empty: '' };
  const sealed = sealSecrets(secrets, { key, context });
  expect(openSecrets(sealed, { key, context })).toEqual(secrets);
  expect(sealSecrets(secrets, { key, context }).equals(sealed)).toBe(false);
  expect(() => openSecrets(sealed, { key: randomBytes(32), context })).toThrow();
  expect(() => openSecrets(sealed, { key, context: 'main/physics/bbbbbbbbbbbbb' })).toThrow();
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    expect(() => openSecrets(changed, { key, context })).toThrow();
  }
  expect(() => openSecrets(sealed.subarray(0, 20), { key, context })).toThrow();
});
