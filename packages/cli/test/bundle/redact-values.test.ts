import { expect, test } from 'vitest';
import { createBundleRedactor } from '../../src/bundle/redact-values.ts';

const VALUE = 'a "b"\nc-long-line é';
const redactor = createBundleRedactor([VALUE, 'wxyz', 'a wxyz more']);

test.each([
  ['as it is', `x ${VALUE} y`],
  ['in JSON', `x ${JSON.stringify(VALUE).slice(1, -1)} y`],
  ['in a URL', `x ${encodeURIComponent(VALUE)} y`],
  ['on one line', `x ${VALUE.replace('\n', ' ')} y`],
  ['in Base64', `x ${Buffer.from(VALUE).toString('base64').replaceAll('=', '')} y`],
  ['with another secret in it', 'x a wxyz more y'],
])('a secret is removed %s', (_how, text) => {
  expect(redactor.text(text)).toBe('x [secret] y');
});

test('one line of a secret, and the user in an address, are removed', () => {
  expect(redactor.text('c-long-line é')).toBe('[secret]');
  expect(redactor.text('http://ada:pass@example.org/')).toBe('http://[secret]@example.org/');
});

test('data loses secrets in keys and values, and values with the name of a credential', () => {
  const data = {
    wxyz: 1,
    list: ['wxyz'],
    API_KEY: 'x',
    password: 5,
    TOKEN: '${{ secrets.TOKEN }}',
    secrets: ['TOKEN'],
  };
  expect(redactor.data(data)).toEqual({
    '[secret]': 1,
    list: ['[secret]'],
    API_KEY: '[secret]',
    password: '[secret]',
    TOKEN: '${{ secrets.TOKEN }}',
    secrets: ['TOKEN'],
  });
});
