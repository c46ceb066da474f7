import { join } from 'node:path';
import { obtainToken } from '@sluice/client';
import { openUserDirectory, type UserDirectory } from '@sluice/service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCaller, prepareOrder, useHostedServer } from './hosted-rig.ts';
import { until } from './workplace-rig.ts';

const SCOPE = { clusterID: 'main', accountID: 'physics' };
const LOGIN = { email: 'member@example.org', password: 'sesame' };
const PIPELINE = `version: 1
name: long
steps: { wait: { command: [sh, -c, "echo ready; sleep 600"] } }
`;

const server = useHostedServer();
let users: UserDirectory;
let paths: readonly string[];

beforeAll(async () => {
  users = await openUserDirectory(join(server.directory, 'data'));
  const caller = createCaller(server);
  const run = await prepareOrder(server, PIPELINE);
  expect((await caller.order(run)).status).toBe(200);
  const isRunning = async () => (await caller.json('GET', `/runs/${run.runId}/states`)).body.states?.[0] === 'r';
  await until(isRunning, 'the step to run');
  paths = [`/events?run=${run.runId}`, '/events?list=true', `/runs/${run.runId}/log?step=wait&follow=true`];
});

afterAll(() => users?.close());

/** A reply in progress, and whether it has been cut. */
interface Stream {
  readonly path: string;
  readonly end: Promise<string>;
  isOpen: boolean;
}

/** Opens every kind of stream of the account, and waits for the beginning of each. */
async function openStreams(api: string, headers: Readonly<Record<string, string>>): Promise<readonly Stream[]> {
  return Promise.all(
    paths.map(async (path) => {
      const reply = await fetch(`${api}${path}`, { headers });
      expect([path, reply.status]).toEqual([path, 200]);
      const reader = reply.body!.getReader();
      expect((await reader.read()).value?.length).toBeGreaterThan(0);
      const stream: Stream = { path, isOpen: true, end: readToEnd(reader).finally(() => (stream.isOpen = false)) };
      return stream;
    }),
  );
}

async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  try {
    while (!(await reader.read()).done);
    return 'ended';
  } catch {
    return 'cut';
  }
}

async function openWithToken(): Promise<readonly Stream[]> {
  const token = await obtainToken({ baseUrl: server.url, login: LOGIN });
  return openStreams(server.api, { authorization: `Bearer ${token}` });
}

/** As the dashboard does. */
async function openWithCookie() {
  const headers = { origin: server.url, 'content-type': 'application/x-www-form-urlencoded' };
  const form = { method: 'POST', headers, redirect: 'manual' } as const;
  const reply = await fetch(`${server.url}/ui/login`, { ...form, body: new URLSearchParams(LOGIN) });
  expect(reply.status).toBe(303);
  const cookie = reply.headers.get('set-cookie')!.split(';')[0]!;
  const { pathname } = new URL(server.api);
  const api = `${server.url}/ui/main/physics${pathname.replace(/\/clusters\/.*/, '')}`;
  return {
    streams: await openStreams(api, { cookie }),
    logOut: () => fetch(`${server.url}/ui/logout`, { ...form, headers: { ...headers, cookie } }),
  };
}

const endsOf = (streams: readonly Stream[]) => Promise.all(streams.map(async ({ path, end }) => [path, await end]));
const cut = () => paths.map((path) => [path, 'cut']);

test.each([
  ['the user has lost the account', () => users.revoke(LOGIN.email, SCOPE)],
  ['the password was changed', () => users.setPassword(LOGIN.email, 'another one')],
  ['the user was removed', () => users.remove(LOGIN.email)],
])('events and followed logs of hosted runs end soon after %s', async (_, change) => {
  const [byToken, { streams: byCookie }] = await Promise.all([openWithToken(), openWithCookie()]);
  try {
    await change();
    expect(await Promise.all([byToken, byCookie].map(endsOf))).toEqual([cut(), cut()]);
  } finally {
    if (!users.list().some(({ email }) => email === LOGIN.email)) await users.add(LOGIN);
    await users.setPassword(LOGIN.email, LOGIN.password);
    await users.grant(LOGIN.email, SCOPE);
  }
});

test('events and followed logs end soon after a logout, and those of another login continue', async () => {
  const [byToken, { streams, logOut }] = await Promise.all([openWithToken(), openWithCookie()]);
  expect((await logOut()).status).toBe(303);
  expect(await endsOf(streams)).toEqual(cut());
  expect(byToken.map(({ isOpen }) => isOpen)).toEqual([true, true, true]);
});
