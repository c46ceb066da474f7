import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { addApi } from '../../src/api/add-run-api.ts';
import { defineRoute } from '../../src/api/api-route.ts';
import { openRunApi, type RunApi } from '../../src/api/run-api.ts';
import { sendBytes } from '../../src/api/send-bytes.ts';
import { DRAIN_MS, MAX_UNREAD } from '../../src/api/send-json.ts';
import type { ReadableFile } from '../../src/runs/read-files.ts';

/** More than the buffers of a connection hold. */
const SIZE = MAX_UNREAD / 4;

const LARGE_FILE: ReadableFile = {
  name: 'large',
  size: SIZE,
  async *read() {
    for (let sent = 0; sent < SIZE; sent += 65_536) yield Buffer.alloc(65_536);
  },
};

let home: string;
let api: RunApi;
let server: FastifyInstance;
/** The ends of the connections on the server. */
let accepted: Socket[];
let clients: Socket[];
let changes: number;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'sluice-unread-'));
  [accepted, clients, changes] = [[], [], 0];
  api = openRunApi({ home, userName: 'tester' });
  server = Fastify({ forceCloseConnections: true });
  server.server.on('connection', (socket) => accepted.push(socket));
  const route = { summary: '', query: z.strictObject({}), reply: z.unknown() };
  const routes = [
    defineRoute({
      ...{ ...route, operationId: 'large', method: 'GET', path: '/large' },
      handle: async () => 'x'.repeat(SIZE),
    }),
    defineRoute({
      ...{ ...route, operationId: 'bytes', method: 'GET', path: '/bytes', reply: 'bytes' },
      handle: async ({ http, reply }) => sendBytes(LARGE_FILE, { http, reply, type: 'text/plain' }),
    }),
    defineRoute({
      ...{ ...route, operationId: 'change', method: 'POST', path: '/change', body: z.unknown() },
      handle: async () => ({ count: ++changes }),
    }),
  ];
  await addApi(server, { prefix: '/api', routes, find: () => api });
  await server.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  for (const client of clients) client.destroy();
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const portOf = () => (server.server.address() as AddressInfo).port;

/** Sends a request, and reads no reply. */
function ask(path = 'large'): void {
  const client = connect(portOf(), '127.0.0.1').pause();
  clients.push(client);
  client.write(`GET /api/${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
}

/** Resolves when the server has so many bytes of replies that were not read. */
async function untilUnread(least: number, most = Number.POSITIVE_INFINITY): Promise<void> {
  while (api.unread.bytes < least || api.unread.bytes > most) await new Promise((resolve) => setImmediate(resolve));
}

async function read(): Promise<{
  readonly status: number | undefined;
  readonly length: number;
  readonly after?: string;
}> {
  const [reply] = (await once(get({ port: portOf(), host: '127.0.0.1', path: '/api/large' }), 'response')) as [
    IncomingMessage,
  ];
  let length = 0;
  for await (const chunk of reply) length += chunk.length;
  const after = reply.headers['retry-after'];
  return { status: reply.statusCode, length, ...(after !== undefined && { after }) };
}

test('a client that reads gets every reply, however many there were before', async () => {
  for (let at = 0; at < 6; at++) expect(await read()).toEqual({ status: 200, length: SIZE + 2 });
  await untilUnread(0, 0);
});

test('replies that nobody reads are limited, and a change is still performed', async () => {
  for (let at = 0; at < 3; at++) ask();
  await untilUnread(3 * SIZE);
  for (let at = 0; at < 20; at++) ask();
  expect(await read()).toMatchObject({ status: 429, after: '5' });
  expect(api.unread.bytes).toBeLessThan(MAX_UNREAD);
  const changed = await fetch(`http://127.0.0.1:${portOf()}/api/change`, { method: 'POST' });
  expect([changed.status, await changed.json()]).toEqual([200, { count: 1 }]);
  for (const client of clients) client.destroy();
  await untilUnread(0, 0);
  expect(await read()).toMatchObject({ status: 200 });
});

test('a file counts while it is read, and no longer when its client has gone', async () => {
  for (let at = 0; at < 3; at++) ask('bytes');
  while (api.downloads.open < 3) await new Promise((resolve) => setImmediate(resolve));
  clients[0]!.resume();
  while (api.downloads.open > 2) await new Promise((resolve) => setImmediate(resolve));
  clients[1]!.destroy();
  while (api.downloads.open > 1) await new Promise((resolve) => setImmediate(resolve));
  expect(clients[2]!.destroyed).toBe(false);
});

test('a connection is cut when nothing of its reply could be sent for a minute', async () => {
  ask();
  await untilUnread(SIZE);
  const [socket] = accepted;
  expect(socket!.timeout).toBe(DRAIN_MS);
  // As after that time: nothing was sent.
  socket!.emit('timeout');
  await untilUnread(0, 0);
  expect(socket!.destroyed).toBe(true);
});

test('a connection that waits for its next request is not cut sooner than others', async () => {
  const client = connect(portOf(), '127.0.0.1');
  clients.push(client);
  client.write('GET /api/large HTTP/1.1\r\nhost: x\r\n\r\n');
  client.resume();
  await untilUnread(SIZE);
  await untilUnread(0, 0);
  expect(accepted[0]!.timeout).toBeGreaterThanOrEqual(server.server.keepAliveTimeout);
});
