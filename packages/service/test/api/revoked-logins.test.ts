import { until } from '@sluice/client/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openUserDirectory, type UserDirectory } from '../../src/accounts/user-directory.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { PRINCIPAL, USER } from '../service-rig.ts';
import { API, loginForm, MD5_OF_PASSWORD, openRawHttp, type RawHttp } from './raw-http.ts';

let http: RawHttp;
let users: UserDirectory;
beforeAll(async () => {
  const engine = new FakeEngine();
  http = await openRawHttp({ engine: 'fake', engines: { fake: () => engine }, cores: 100 });
  users = await openUserDirectory(http.rig.root, http.rig.clock);
  await http.send('POST', `${API}/containers?containerID=long`, { body: '{"instanceType":"small","image":"x"}' });
  await until('it is launched', async () => engine.launched.size > 0);
  engine.run('long');
});
afterAll(async () => {
  await users.close();
  await http.close();
});

async function logIn(): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: '' };
  const reply = await http.send('POST', '/user/api/login', { headers, body: loginForm(USER.email, MD5_OF_PASSWORD) });
  expect(reply.status).toBe(200);
  return String(reply.headers.svc_token);
}

const statusFor = async (token: string) =>
  (await http.send('GET', `${API}/containers`, { headers: { authorization: `Bearer ${token}` } })).status;

it.each([
  ['the user has lost an account', () => users.revoke(USER.email, PRINCIPAL.accounts[1]!)],
  ['the password was changed', () => users.setPassword(USER.email, 'another one')],
  ['the user was removed', () => users.remove(USER.email)],
])('a followed log ends soon after %s', async (_, change) => {
  for (const account of PRINCIPAL.accounts) await users.grant(USER.email, account);
  await users.setPassword(USER.email, USER.password);
  const authorization = `Bearer ${await logIn()}`;
  const reply = await fetch(`${http.url}${API}/containers/long/logs?follow=true`, { headers: { authorization } });
  expect(reply.status).toBe(200);
  const ended = reply.text().then(
    () => 'ended',
    () => 'cut',
  );
  await http.rig.clock.advance(1);
  await change();
  expect(await ended).toBe('cut');
});

it('a login is valid at once after the clock was set back, and a changed password ends it', async () => {
  await users.add(USER);
  for (const account of PRINCIPAL.accounts) await users.grant(USER.email, account);
  await http.rig.clock.advance(-3_600_000);
  const token = await logIn();
  expect(await statusFor(token)).toBe(200);
  await users.setPassword(USER.email, USER.password);
  expect(await statusFor(token)).toBe(401);
  expect(await statusFor(await logIn())).toBe(200);
});
