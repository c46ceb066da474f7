import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createRestrictedNotifier } from '../../src/hosted/restricted-notifier.ts';
import { createWebhookRules, findWebhookFault } from '../../src/hosted/webhook-rules.ts';

const CONTENT = { text: 'a run has ended' } as never;

test('only public addresses are allowed, in every notation', () => {
  const rules = createWebhookRules([]);
  const denied = [
    ...[
      '127.0.0.1',
      '127.9.9.9',
      '0.0.0.0',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
    ],
    ...['100.64.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::7f00:1'],
    ...['fe80::1', 'fc00::1', 'fd12::1', 'ff02::1', '64:ff9b::7f00:1', '2002:7f00:1::', 'nonsense', ''],
  ];
  expect(denied.filter((address) => rules.isAllowed('x.example', address))).toEqual([]);
  const allowed = ['8.8.8.8', '172.32.0.1', '2606:4700::1111'];
  expect(allowed.filter((address) => !rules.isAllowed('x.example', address))).toEqual([]);
});

test('an operator allows hosts, addresses and networks', () => {
  const rules = createWebhookRules(['hooks.internal', '10.1.0.0/16', 'fd00::5']);
  expect(rules.isAllowed('Hooks.Internal', '127.0.0.1')).toBe(true);
  expect(rules.isAllowed('other.internal', '127.0.0.1')).toBe(false);
  expect(rules.isAllowed('other.internal', '10.1.2.3')).toBe(true);
  expect(rules.isAllowed('other.internal', '10.2.2.3')).toBe(false);
  expect(rules.isAllowed('other.internal', 'fd00::5')).toBe(true);
});

test('an entry that is no host, address or network is a fault', () => {
  expect(['a.example', '10.0.0.0/8', '10.0.0.1', 'fd00::/8'].map(findWebhookFault)).toEqual(Array(4).fill(undefined));
  for (const entry of ['', 'http://a.example', '10.0.0.0/33', '10.0.0.0/8/8', 'fd00::/129', 'a b'])
    expect([entry, findWebhookFault(entry)]).toEqual([entry, expect.stringContaining('must')]);
});

test('a webhook is sent to the address that was checked, without redirects, and one forbidden address denies the host', async () => {
  const received: (string | undefined)[] = [];
  const server = createServer((request, reply) => {
    received.push(`${request.headers.host} ${request.url}`);
    if (request.url === '/moved') reply.writeHead(302, { location: '/ok' }).end();
    else reply.writeHead(request.url === '/ok' ? 204 : 500).end('x'.repeat(100_000));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let resolved = 0;
  const resolve = async () => {
    resolved++;
    return ['127.0.0.1'];
  };
  const send = (allow: string[], path: string, addresses = resolve) =>
    createRestrictedNotifier(() => createWebhookRules(allow), { resolve: addresses }).post(
      `http://hooks.invalid:${port}${path}`,
      CONTENT,
    );
  try {
    expect(await send(['hooks.invalid'], '/ok')).toEqual({ ok: true, value: undefined });
    expect([resolved, received]).toEqual([1, [`hooks.invalid:${port} /ok`]]);
    expect(await send(['127.0.0.1'], '/moved')).toEqual({ ok: false, error: 'it answered 302' });
    expect(await send(['127.0.0.1'], '/broken')).toEqual({ ok: false, error: 'it answered 500' });
    expect(received).toHaveLength(3);
    expect(await send([], '/ok')).toMatchObject({ ok: false, error: expect.stringContaining('does not allow') });
    const two = async () => ['127.0.0.1', '10.0.0.1'];
    expect(await send(['127.0.0.1'], '/ok', two)).toMatchObject({
      ok: false,
      error: expect.stringContaining('10.0.0.1'),
    });
    expect(await send([], '/ok', async () => [])).toMatchObject({ ok: false });
    expect(received).toHaveLength(3);
  } finally {
    server.close();
  }
  const notifier = createRestrictedNotifier(() => createWebhookRules([]));
  for (const url of ['file:///etc/passwd', 'http://[::1]:1/', 'http://2130706433/', 'http://0x7f.1/', 'nonsense'])
    expect(await notifier.post(url, CONTENT)).toMatchObject({ ok: false });
  expect(await notifier.run(['true'], CONTENT, '/')).toMatchObject({ ok: false });
});
