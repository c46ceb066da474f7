import { expect, test } from 'vitest';
import { findAccount, loginUrl } from '../../src/api/server-account.ts';

test.each([
  ['https://host/ui/main/physics/#/runs/abc', 'main/physics', 'https://host/ui/'],
  ['https://host/prefix/ui/main/physics/?x=1', 'main/physics', 'https://host/prefix/ui/'],
])('findAccount finds the account of %s', (page, name, url) => {
  expect(findAccount(page)).toEqual({ name, url });
});

test.each(['http://127.0.0.1:7380/', 'http://127.0.0.1:7380/#/ui/main/physics/', 'https://host/ui/'])(
  'the page %s is of no account and has no login',
  (page) => {
    expect(findAccount(page)).toBeUndefined();
    expect(loginUrl(page)).toBeUndefined();
  },
);

test('loginUrl leads back to the same place', () => {
  const url = new URL(loginUrl('https://host/ui/main/physics/#/runs/abc?q=a%26b')!);
  expect([url.pathname, url.hash]).toEqual(['/ui/', '']);
  expect(url.searchParams.get('to')).toBe('main/physics/#/runs/abc?q=a%26b');
});
