import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTraceSink } from '../../src/trace/trace-sink.ts';

let server: Server;
let url: string;
let reply: { readonly status: number; readonly body: string };
let requests: { readonly path: string; readonly headers: Record<string, unknown>; readonly body: string }[];

beforeEach(async () => {
  requests = [];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      requests.push({ path: `${request.method} ${request.url}`, headers: request.headers, body });
      response.writeHead(reply.status, { 'content-type': 'application/json', location: '/elsewhere' }).end(reply.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

test('posts JSON to v1/traces below the URL, with the headers', async () => {
  reply = { status: 200, body: '{"partialSuccess":{}}' };
  const sink = createTraceSink(`${url}/base/?key=k`, { headers: { 'x-key': 'k' } });
  expect(await sink.send('{}')).toEqual({ ok: true, value: undefined });
  expect(requests).toMatchObject([
    { path: 'POST /base/v1/traces?key=k', headers: { 'x-key': 'k', 'content-type': 'application/json' }, body: '{}' },
  ]);
});

test('tells a partial success', async () => {
  reply = { status: 200, body: '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}' };
  expect(await createTraceSink(url).send('{}')).toEqual({ ok: true, value: 'the collector rejected 2 spans: too old' });
});

test.each([
  [400, false],
  [401, false],
  [302, true],
  [429, true],
  [500, false],
  [503, true],
])('status %i is temporary: %s', async (status, isTemporary) => {
  reply = { status, body: 'why' };
  const sent = await createTraceSink(url).send('{}');
  expect(sent).toMatchObject({ ok: false, error: { isTemporary } });
  expect(requests).toHaveLength(1);
});

test('a collector that does not listen may do so later', async () => {
  await new Promise((resolve) => server.close(resolve));
  const sent = await createTraceSink(`${url}?key=k`).send('{}');
  expect(sent).toMatchObject({ ok: false, error: { isTemporary: true } });
  expect(sent.ok || sent.error.message).toContain(`could not reach ${url}/v1/traces:`);
});
