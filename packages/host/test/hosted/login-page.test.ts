import { expect, test } from 'vitest';
import { readDestination, renderLogin } from '../../src/hosted/login-page.ts';

test.each(['main/physics/', 'main/physics/#/runs/abc?q=a%26b', 'my-cluster/a.b_c/#'])(
  'a login may lead to %s',
  (to) => {
    expect(readDestination(to)?.to).toBe(to);
  },
);

test.each([
  ...['', '/', '//evil.example/x/', 'https://evil.example/', 'main/physics', '../../x/', '../x/', 'a/../', '/a/b/'],
  ...[
    'main/physics/x',
    'main/physics/?x=1',
    'main/physics/#a\r\nx: y',
    'a\\b/c/',
    'javascript:a/b/',
    undefined,
    ['a/b/'],
  ],
])('a login never leads to %j', (to) => {
  expect(readDestination(to)).toBeUndefined();
});

test('the form shows no text as markup', () => {
  const text = '"><script>alert(1)</script>';
  expect(renderLogin({ message: text, email: text, to: text })).not.toContain('<script');
});
