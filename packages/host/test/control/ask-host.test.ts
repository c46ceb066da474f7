import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askHost, SOCKET_NAME } from '../../src/control/ask-host.ts';

const STATUS = { pid: 7, startedAt: '2026-11-26T00:00:00.000Z', isBackground: true, runs: [] };

let home: string;
let server: Server | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sluice-ask-'));
});

afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(home, { recursive: true });
});

/** A process that hosts the home, and what it has received. */
async function host(answer: (socket: Socket, line: string) => void): Promise<string[]> {
  const received: string[] = [];
  mkdirSync(join(home, 'host'));
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      received.push(String(chunk));
      answer(socket, String(chunk));
    });
  });
  await new Promise<void>((resolve) => server!.listen(join(home, 'host', SOCKET_NAME), resolve));
  return received;
}

test('a home that no process hosts has no reply', async () => {
  expect(await askHost(home, { verb: 'status' })).toBeUndefined();
  mkdirSync(join(home, 'host'));
  expect(await askHost(home, { verb: 'status' })).toBeUndefined();
});

test('a request is one line with the time at which it expires', async () => {
  const received = await host((socket) => socket.end(JSON.stringify({ status: STATUS })));
  expect(await askHost(home, { verb: 'take', runId: 'r', env: { A: 'b\nc' } })).toEqual({ status: STATUS });
  expect(received.join('').split('\n')).toHaveLength(2);
  expect(JSON.parse(received.join(''))).toMatchObject({
    ...{ verb: 'take', runId: 'r', env: { A: 'b\nc' } },
    before: { id: expect.any(String), uptimeMs: expect.any(Number) },
  });
});

test('a reply in several parts is one reply, also an error', async () => {
  await host((socket) => {
    const [first, rest] = [JSON.stringify({ error: 'é' }).slice(0, 5), JSON.stringify({ error: 'é' }).slice(5)];
    socket.write(first);
    setImmediate(() => socket.end(rest));
  });
  expect(await askHost(home, { verb: 'status' })).toEqual({ error: 'é' });
});

test.each([
  ['nothing', ''],
  ['a part of a reply', '{"status":'],
  ['another form', JSON.stringify({ status: { ...STATUS, pid: 'x' } })],
  ['no object', '7'],
])('a host that ends after it has sent %s has not replied', async (_, text) => {
  await host((socket) => socket.end(text));
  expect(await askHost(home, { verb: 'status' })).toBeUndefined();
});

test('a host whose connection breaks has not replied', async () => {
  await host((socket) => socket.destroy());
  expect(await askHost(home, { verb: 'status' })).toBeUndefined();
});

test.skipIf(process.getuid?.() === 0)('a socket of another user is an error', async () => {
  await host((socket) => socket.end());
  chmodSync(join(home, 'host', SOCKET_NAME), 0);
  expect(await askHost(home, { verb: 'status' })).toEqual({
    error: 'could not connect to the process that hosts the runs of this home: EACCES',
  });
});
