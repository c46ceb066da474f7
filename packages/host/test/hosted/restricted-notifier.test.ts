import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Notification } from '@sluice/runner';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRestrictedNotifier } from '../../src/hosted/restricted-notifier.ts';
import { createWebhookRules } from '../../src/hosted/webhook-rules.ts';

let server: Server;
let port: number;
let received: { readonly url: string | undefined; readonly host: string | undefined; readonly body: string }[];
let status: number;

beforeEach(async () => {
  [received, status] = [[], 204];
  server = createServer((request, reply) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      received.push({ url: request.url, host: request.headers.host, body });
      reply.writeHead(status, { location: 'http://169.254.169.254/' }).end('x'.repeat(100_000));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const CONTENT = { text: 'ended' } as Notification;
const LOCAL = createWebhookRules(['127.0.0.0/8']);
const notifier = (resolve: (host: string) => Promise<readonly string[]>, rules = LOCAL) =>
  createRestrictedNotifier(() => rules, { resolve });

test('posts to the address that was checked, under the name of the URL', async () => {
  const asked: string[] = [];
  const { post } = notifier(async (host) => {
    asked.push(host);
    return ['127.0.0.1'];
  });
  expect(await post(`http://hooks.example:${port}/run`, CONTENT)).toEqual({ ok: true, value: undefined });
  expect(received).toEqual([{ url: '/run', host: `hooks.example:${port}`, body: JSON.stringify(CONTENT) }]);
  expect(asked).toEqual(['hooks.example']);
});

test('follows no redirect, and says what the receiver answered', async () => {
  status = 302;
  expect(await notifier(async () => ['127.0.0.1']).post(`http://hooks.example:${port}/`, CONTENT)).toEqual({
    ...{ ok: false, error: 'it answered 302' },
  });
  expect(received).toHaveLength(1);
});

test.each([
  ['http://169.254.169.254/', []],
  ['http://[::1]/', []],
  ['http://inside.example/', ['10.0.0.1']],
  ['http://mixed.example/', ['127.0.0.1', '10.0.0.1']],
])('connects to no address that the operator does not allow: %s', async (url, addresses) => {
  const posted = await notifier(async () => addresses).post(url, CONTENT);
  expect(posted).toMatchObject({ ok: false, error: expect.stringContaining('does not allow webhooks') });
  expect(received).toEqual([]);
});

test.each(['file:///etc/passwd', 'gopher://x/', 'none'])('sends to no other kind of URL: %s', async (url) => {
  expect(await notifier(async () => ['127.0.0.1']).post(url, CONTENT)).toMatchObject({ ok: false });
});

test('runs no command, and says what to use', async () => {
  const { run } = notifier(async () => []);
  expect(await run(['id'], CONTENT, {} as never)).toMatchObject({
    ok: false,
    error: expect.stringContaining('webhook'),
  });
});
