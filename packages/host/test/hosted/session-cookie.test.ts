import { expect, test } from 'vitest';
import { readCookie, renderCookie } from '../../src/hosted/session-cookie.ts';

const TLS = { protocol: 'https' } as const;
const PLAIN = { protocol: 'http' } as const;

test('renderCookie, with TLS uses a name that no other host and no page without TLS can set', () => {
  expect(renderCookie(TLS, 'x')).toBe('__Host-sluice-session=x; Path=/; Secure; HttpOnly; SameSite=Strict');
  expect(renderCookie(TLS)).toBe('__Host-sluice-session=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0');
  expect(renderCookie(PLAIN, 'x')).toBe('sluice-session=x; Path=/ui; HttpOnly; SameSite=Strict');
});

test('readCookie, with TLS accepts only that name', () => {
  const headers = { cookie: 'a=b; sluice-session=planted; __Host-sluice-session=own' };
  expect(readCookie({ ...TLS, headers })).toBe('own');
  expect(readCookie({ ...PLAIN, headers })).toBe('planted');
  expect(readCookie({ ...TLS, headers: { cookie: 'sluice-session=planted' } })).toBeUndefined();
  expect(readCookie({ ...TLS, headers: { cookie: '__Host-sluice-session=a b' } })).toBeUndefined();
});
