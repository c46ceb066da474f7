import { expect, test } from 'vitest';
import { createSessions } from '../../src/listener/sessions.ts';

test('a link opens one session, and no other', () => {
  const sessions = createSessions();
  const link = sessions.createLinkToken();
  const session = sessions.exchange(link)!;
  expect(sessions.isSession(session)).toBe(true);
  expect(sessions.exchange(link)).toBeUndefined();
  expect(sessions.exchange('x')).toBeUndefined();
});

test('a session needs its cookie and its place', () => {
  const sessions = createSessions();
  const [one, other] = [1, 2].map(() => sessions.exchange(sessions.createLinkToken())!);
  expect(sessions.isSession({ cookie: one!.cookie, place: other!.place })).toBe(false);
  expect(sessions.isSession({ cookie: other!.cookie, place: one!.place })).toBe(false);
  expect(createSessions().isSession(one!)).toBe(false);
});

test('of more than a hundred sessions, the oldest end', () => {
  const sessions = createSessions();
  const opened = Array.from({ length: 102 }, () => sessions.exchange(sessions.createLinkToken())!);
  expect(opened.map((session) => sessions.isSession(session))).toEqual([false, false, ...Array(100).fill(true)]);
});

test('the token of programs is compared as a whole, whatever its length', () => {
  const sessions = createSessions();
  const { token } = sessions;
  expect([token, token.slice(1), `${token}x`, ''].map((given) => sessions.isToken(given))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
