import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRandom, mutateText, pick } from '../mutate-text.ts';
import { openProxyRig } from './proxy-rig.ts';

const HOST = 'web-c1.ports.test';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const SWITCHED = 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** A proxy before an application that has the bytes of a request's head, and answers what it wants. */
async function openBoth(answer: (socket: Socket, head: string) => void) {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const application = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      const isHead = !text.includes('\r\n\r\n');
      text += bytes.toString('latin1');
      if (!isHead || !text.includes('\r\n\r\n')) return;
      seen.push(text);
      answer(socket, text);
    });
  });
  await once(application.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    application.close();
  });
  const rig = await openProxyRig();
  rig.proxy.routes.add(HOST, { host: '127.0.0.1', port: (application.address() as AddressInfo).port });
  return { ...rig, seen, sockets };
}

function request(target: string, ...headers: string[]): string {
  return `${[`GET ${target} HTTP/1.1`, `Host: ${HOST}`, ...headers].join('\r\n')}\r\n\r\n`;
}

const PLAIN = request('/', 'Connection: close');
const HANDSHAKE = request('/', 'Connection: Upgrade', 'Upgrade: websocket');

describe('an application in a container', () => {
  test.each<[string, string, string, RegExp]>([
    ['a status text that cannot be written', PLAIN, OK.replace('OK', 'O\x01K'), /^HTTP\/1.1 200 OK\r\n.*ok$/s],
    ['a status below all', PLAIN, OK.replace('200', '000'), /^HTTP\/1.1 502 .*no valid reply\n$/s],
    ['an upgrade unasked', PLAIN, SWITCHED, /^HTTP\/1.1 502 .*no valid reply\n$/s],
    ['half an upgrade', PLAIN, 'HTTP/1.1 101 Switching\r\n\r\n', /^HTTP\/1.1 502 .*no valid reply\n$/s],
    ['a status below all to a handshake', HANDSHAKE, OK.replace('200', '099'), /^HTTP\/1.1 502 .*no valid reply\n$/s],
    ['bytes after a reply without a body', PLAIN, OK.replace('200', '204'), /^HTTP\/1.1 204 OK\r\n.*\r\n\r\n$/s],
    [
      'two lengths',
      PLAIN,
      OK.replace('\r\n\r\n', '\r\nContent-Length: 3\r\n\r\n'),
      /^HTTP\/1.1 502 .*closed the connection/s,
    ],
  ])('that sends %s harms nobody', async (_, sent, bytes, expected) => {
    const { sendRaw } = await openBoth((socket) => socket.end(bytes, 'latin1'));
    expect(await sendRaw(HOST, sent)).toMatch(expected);
  });

  test('that answers early and resets the connection is heard, whatever the client still sends', async () => {
    const answer = 'HTTP/1.1 413 Too Large\r\nContent-Length: 8\r\nConnection: close\r\n\r\ntoo much';
    // What was sent and not read makes the kernel answer the end of the connection with a reset.
    const { send } = await openBoth((socket) => socket.pause().write(answer, () => socket.destroy()));
    const body = new Uint8Array(20_000_000);
    for (let i = 0; i < 20; i++) {
      expect(await send('POST', `https://${HOST}/`, { body })).toMatchObject({ status: 413, text: 'too much' });
    }
  });

  test.each([PLAIN, HANDSHAKE])('is given no byte of another encoding than it has sent', async (sent) => {
    const { openRaw } = await openBoth((socket) =>
      socket.end(OK.replace('\r\n', '\r\nX-Name: \xc3\xa4\r\n'), 'latin1'),
    );
    const socket = await openRaw(HOST);
    socket.write(sent);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes.toString()).toContain('X-Name: ä\r\n');
    socket.destroy();
  });

  test('that sends whatever it likes does not end the proxy', async () => {
    const seed = Number(process.env.SLUICE_FUZZ_SEED ?? Date.now() % 1e9);
    const random = createRandom(seed);
    const originals = [OK, SWITCHED, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'];
    let bytes = '';
    const { sendRaw } = await openBoth((socket) => socket.end(bytes, 'latin1'));
    for (let i = 0; i < 150; i++) {
      bytes = mutateText(mutateText(pick(originals, random), random), random);
      const reply = await sendRaw(HOST, pick([PLAIN, HANDSHAKE], random));
      expect(reply, `SLUICE_FUZZ_SEED=${seed}, reply ${i}: ${JSON.stringify(bytes)}`).toMatch(/^HTTP\/1\.1 [1-9]\d\d /);
    }
  });

  test('that breaks off the rejection of a WebSocket has the connection cut, with nothing added', async () => {
    const { sendRaw } = await openBoth((socket) => {
      socket.write('HTTP/1.1 403 No\r\nContent-Length: 50\r\n\r\nhello', () =>
        setImmediate(() => socket.resetAndDestroy()),
      );
    });
    expect(await sendRaw(HOST, HANDSHAKE)).toMatch(/^HTTP\/1.1 403 No\r\n.*\r\n\r\nhello$/s);
  });
});

describe('a client', () => {
  test('that goes leaves nothing open, also of requests that wait for an earlier one', async () => {
    const { openRaw, seen, sockets } = await openBoth((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nbegun'));
    const client = await openRaw(HOST);
    client.write(request('/first') + request('/second') + request('/third'));
    await expect.poll(() => seen.length).toBe(3);
    client.destroy();
    await expect.poll(() => sockets.size).toBe(0);
  });

  test('cannot pass the end of its request by so many headers that one is left out', async () => {
    const { sendRaw, seen } = await openBoth((socket) => socket.end(OK));
    const headers = [...Array.from({ length: 2100 }, () => 'a:'), 'Content-Length: 38', 'Connection: close'];
    const reply = await sendRaw(HOST, `${request('/', ...headers)}GET /smuggled HTTP/1.1\r\nHost: other\r\n\r\n`);
    expect(reply).toMatch(/^HTTP\/1.1 200 /);
    expect(seen[0]).toMatch(/\r\nContent-Length: 38\r\n/);
  });

  test('cannot name itself to an application that reads _ as -', async () => {
    const { sendRaw, seen } = await openBoth((socket) => socket.end(OK));
    await sendRaw(
      HOST,
      request('/', 'X_Forwarded_For: 6.6.6.6', 'X-Real_IP: 6.6.6.6', 'X_Mine: 1', 'Connection: close'),
    );
    expect(seen[0]).not.toContain('6.6.6.6');
    expect(seen[0]).toContain('X_Mine: 1');
  });

  test.each([
    ['a body', `${request('/', 'Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 5')}hello`],
    ['another method than GET', HANDSHAKE.replace('GET', 'POST')],
  ])('that shakes hands with %s is rejected', async (_, sent) => {
    const { sendRaw, seen } = await openBoth((socket) => socket.end(OK));
    expect(await sendRaw(HOST, sent)).toMatch(/^HTTP\/1.1 400 /);
    expect(seen).toEqual([]);
  });
});
