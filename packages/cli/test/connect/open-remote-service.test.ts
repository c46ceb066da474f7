import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRemoteService } from '../../src/connect/open-remote-service.ts';
import { wholeMessage } from '../../src/context/command-rejection.ts';

let server: Server;
let url: string;
let accounts: { clusterID: string; accountID: string }[];
let seen: { path: string; authorization: string | undefined }[];

beforeEach(async () => {
  accounts = [{ clusterID: 'main', accountID: 'physics' }];
  seen = [];
  server = createServer((request, reply) => {
    seen.push({ path: request.url ?? '', authorization: request.headers.authorization });
    const good = request.headers.authorization === 'Bearer good';
    reply.writeHead(good ? 200 : 401, { 'content-type': 'application/json' });
    reply.end(JSON.stringify(good ? { accounts } : { code: 401, message: 'no' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const good = { SLUICE_TOKEN: 'good' };

test('openRemoteService works in the only account there is', async () => {
  const opened = await openRemoteService(url, { profile: {}, flags: {}, env: good });
  expect(opened).toMatchObject({ ok: true, value: { scope: { clusterID: 'main', accountID: 'physics' } } });
  if (opened.ok) await opened.value.close();
});

test('openRemoteService asks nothing when cluster and account are given', async () => {
  const flags = { cluster: 'c', account: 'a' };
  const opened = await openRemoteService(url, { profile: { cluster: 'other' }, flags, env: good });
  expect(opened).toMatchObject({ ok: true, value: { scope: { clusterID: 'c', accountID: 'a' } } });
  expect(seen).toEqual([]);
  if (opened.ok) await opened.value.close();
});

test('openRemoteService lets the user choose among several accounts', async () => {
  accounts.push({ clusterID: 'side', accountID: 'physics' });
  expect(await openRemoteService(url, { profile: {}, flags: {}, env: good })).toMatchObject({
    ok: false,
    error: {
      exitCode: 2,
      message: 'could not choose an account: several accounts match; choose one:',
      lines: ['  --account main/physics', '  --account side/physics'],
    },
  });
});

test('openRemoteService ends with 3 for a token that is rejected, says what to do, and does not show the token', async () => {
  const opened = await openRemoteService(url, { profile: {}, flags: {}, env: { SLUICE_TOKEN: 'stale-token' } });
  expect(opened).toMatchObject({ ok: false, error: { exitCode: 3, message: expect.stringContaining('SLUICE_TOKEN') } });
  expect(JSON.stringify(opened)).not.toContain('stale-token');
});

test('openRemoteService keeps the credentials of a profile from other services', async () => {
  const profile = { service: 'https://one.example', tokenFile: '/nowhere/token' };
  expect(await openRemoteService(url, { profile, flags: { service: url }, env: {} })).toMatchObject({
    ok: false,
    error: {
      exitCode: 2,
      message: expect.stringContaining('the credentials of the profile are only for https://one.example'),
    },
  });
  expect(seen).toEqual([]);
});

test.each([
  [
    { account: 'history' },
    'could not choose an account: this login has no account history; choose one:\n  --account main/physics',
  ],
  [{ service: 'localhost:80' }, 'the address must start with https:// or http://'],
])('openRemoteService says what to do about %j', async (flags: { account?: string; service?: string }, message) => {
  const opened = await openRemoteService(flags.service ?? url, { profile: {}, flags, env: good });
  expect(opened).toMatchObject({ ok: false, error: { exitCode: 2 } });
  expect(opened.ok ? '' : wholeMessage(opened.error)).toContain(message);
});
