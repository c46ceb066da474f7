import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { VARIANTS } from '../api/path-variants.ts';
import { openProxyRig } from './proxy-rig.ts';
import { openWebApplication } from './web-application.ts';

const HOST = 'web-c1.ports.test';
const URL_BASE = `https://${HOST}`;

async function openBoth() {
  const application = await openWebApplication();
  const rig = await openProxyRig();
  rig.proxy.routes.add(HOST, { host: '127.0.0.1', port: application.port });
  return { application, rig };
}

describe('createPortProxy', () => {
  test('tells the application who asked for what, and believes no client that says so itself', async () => {
    const { rig } = await openBoth();
    const spoof = { 'x-forwarded-for': '6.6.6.6', forwarded: 'for=6.6.6.6', 'x-real-ip': '6.6.6.6', 'x-mine': 'kept' };
    const reply = await rig.send('GET', `${URL_BASE}/headers?a=b`.replace('?a=b', ''), { headers: spoof });
    expect(JSON.parse(reply.text)).toMatchObject({
      host: HOST,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': HOST,
      'x-mine': 'kept',
    });
    expect(reply.text).not.toContain('6.6.6.6');
  });

  test('keeps repeated headers and drops those of the connection', async () => {
    const { application, rig } = await openBoth();
    const headers = { connection: 'close, x-private', 'x-private': 'no', te: 'trailers', 'proxy-authorization': 'no' };
    const reply = await rig.send('GET', `${URL_BASE}/cookies`, { headers });
    expect(reply.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    const names = Object.keys(application.seen[0]?.headers ?? {});
    expect(names).not.toEqual(expect.arrayContaining(['x-private']));
    expect(names).not.toEqual(expect.arrayContaining(['te']));
    expect(names).not.toEqual(expect.arrayContaining(['proxy-authorization']));
  });

  test('lets a cookie be of its own host only, however its domain is written', async () => {
    const { rig } = await openBoth();
    const { headers } = await rig.send('GET', `${URL_BASE}/domains`);
    const kept = [0, 1, 2, 3, 4].map((i) => `c${i}=v=; Path=/; Secure;HttpOnly`);
    expect(headers['set-cookie']).toEqual([...kept, '__Host-d=e; Path=/; Secure', 'f="; Path=/']);
    const handshake = `GET /domains HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    expect(await rig.sendRaw(HOST, handshake)).not.toMatch(/domain/i);
  });

  test.each(['TRACE', 'TRACK'])('rejects %s, which shows a page what only the browser is to know', async (method) => {
    const { application, rig } = await openBoth();
    const asked = `${method} / HTTP/1.1\r\nHost: ${HOST}\r\nCookie: secret=1\r\n\r\n`;
    const reply = await rig.sendRaw(HOST, asked);
    expect(reply).toMatch(/^HTTP\/1.1 (405|400) /);
    expect(reply).not.toContain('secret');
    expect(application.seen).toEqual([]);
  });

  test('carries large bodies, with a length and chunked', async () => {
    const { application, rig } = await openBoth();
    const body = new Uint8Array(50_000_000);
    expect(await rig.send('PUT', `${URL_BASE}/large`, { body })).toMatchObject({ status: 200, text: '50000000 bytes' });
    const chunked = { 'transfer-encoding': 'chunked' };
    expect(await rig.send('GET', `${URL_BASE}/odd`, { body: new Uint8Array(10), headers: chunked })).toMatchObject({
      text: '10 bytes',
    });
    expect(application.seen[1]?.headers['transfer-encoding']).toBe('chunked');
  });

  test('passes on an answer that comes before the body was read', async () => {
    const { rig } = await openBoth();
    const reply = await rig.sendRaw(
      HOST,
      `POST /early HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 100\r\n\r\nx`,
      /too much/,
    );
    expect(reply).toMatch(/^HTTP\/1.1 413 /);
  });

  test('streams events as they come', async () => {
    const { rig } = await openBoth();
    const socket = await rig.openRaw(HOST);
    socket.write(`GET /events HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    let text = '';
    while (!text.includes('data: first')) text += String((await once(socket, 'data'))[0]);
    socket.destroy();
  });

  test('carries a WebSocket both ways, and a rejection of it', async () => {
    const { rig } = await openBoth();
    const handshake = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    const socket = await rig.openRaw(HOST);
    socket.write(handshake('/socket'));
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(String(head)).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    const [frame] = (await once(socket, 'data')) as [Buffer];
    expect(frame.subarray(2).toString()).toBe('hihi');
    socket.destroy();
    expect(await rig.sendRaw(HOST, handshake('/elsewhere'))).toMatch(/^HTTP\/1.1 404 Not Found\r\n.*no$/s);
    expect(await rig.sendRaw(HOST, handshake('/socket').replace('websocket', 'h2c'))).toMatch(/^HTTP\/1.1 400 /);
  });

  test('answers 421 for a host without a route, and for another than that of the handshake', async () => {
    const { application, rig } = await openBoth();
    rig.proxy.routes.add('other.ports.test', { host: '127.0.0.1', port: application.port });
    expect((await rig.send('GET', 'https://nobody.ports.test/')).status).toBe(421);
    expect((await rig.send('GET', `${URL_BASE}/`, { serverName: 'other.ports.test' })).status).toBe(421);
    expect(
      (await rig.send('GET', `${URL_BASE}/`, { headers: { host: `${HOST.toUpperCase()}:${rig.port}` } })).status,
    ).toBe(200);
    expect(application.seen.length).toBe(1);
  });

  test('answers 503 where nothing listens and 502 where the application breaks off', async () => {
    const { application, rig } = await openBoth();
    expect((await rig.send('GET', `${URL_BASE}/broken`)).status).toBe(502);
    application.server.close();
    application.server.closeAllConnections();
    const reply = await rig.send('GET', `${URL_BASE}/`);
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(reply.text).toContain('does not listen');
  });

  test('a removed route ends what is under way before it returns, and nothing follows', async () => {
    const { application, rig } = await openBoth();
    const events = await rig.openRaw(HOST);
    events.on('error', () => undefined);
    events.write(`GET /events HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await once(events, 'data');
    const kept = await rig.openRaw(HOST);
    kept.write(`GET /headers HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await once(kept, 'data');
    const closed = new Promise<void>((resolve) => events.on('close', () => resolve()));
    rig.proxy.routes.remove(HOST);
    rig.proxy.routes.remove(HOST);
    await closed;
    const before = application.seen.length;
    kept.write(`GET /headers HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    expect(String((await once(kept, 'data'))[0])).toMatch(/^HTTP\/1.1 421 /);
    expect(application.seen.length).toBe(before);
  });

  test('add rejects a second route for a host', async () => {
    const { rig } = await openBoth();
    expect(() => rig.proxy.routes.add(HOST.toUpperCase(), { host: '127.0.0.1', port: 1 })).toThrow(
      /it already has one/,
    );
  });

  test.each([
    [
      'both lengths',
      `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`],
    ['the same length twice', `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd`],
    ['an unknown coding', `POST / HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['two codings', `POST / HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    [
      'chunked twice',
      `POST / HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['chunks in HTTP/1.0', `POST / HTTP/1.0\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a signed length', `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: +4\r\n\r\nabcd`],
    ['a space before the colon', `POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length : 4\r\n\r\nabcd`],
    ['a folded header', `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-A: b\r\n Content-Length: 4\r\n\r\nabcd`],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts', `GET / HTTP/1.1\r\nHost: ${HOST}\r\nHost: other.ports.test\r\n\r\n`],
    ['the same Host twice', `GET / HTTP/1.1\r\nHost: ${HOST}\r\nHost: ${HOST}\r\n\r\n`],
    ['a Host with a path', `GET / HTTP/1.1\r\nHost: ${HOST}/x\r\n\r\n`],
    ['a Host with a user', `GET / HTTP/1.1\r\nHost: a@${HOST}\r\n\r\n`],
    ['an absolute target of another host', `GET https://other.ports.test/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
    ['an absolute target with a user', `GET https://a@${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
    ['a target without a slash', `GET x HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`],
  ])('rejects a request with %s', async (_, text) => {
    const { application, rig } = await openBoth();
    const reply = await rig.sendRaw(HOST, text);
    expect(reply).toMatch(/^HTTP\/1.1 400 /);
    expect(application.seen).toEqual([]);
  });

  test('takes an absolute target of the same host for its path', async () => {
    const { application, rig } = await openBoth();
    const reply = await rig.sendRaw(
      HOST,
      `GET https://${HOST}/headers HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`,
    );
    expect(reply).toMatch(/^HTTP\/1.1 200 /);
    expect(application.seen[0]?.url).toBe('/headers');
  });

  // Its only protection is the name of the host, and the path is the application's.
  test.for(Object.entries(VARIANTS))('passes a path on as it is, and to no other host: %s', async ([, variant]) => {
    const { application, rig } = await openBoth();
    rig.proxy.routes.add('other.ports.test', { host: '127.0.0.1', port: 1 });
    const target = variant('/a/b');
    const path = /^http:/i.test(target) ? undefined : target;
    const ask = (host: string, of: string) =>
      rig.sendRaw(host, `POST ${of} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    expect(await ask('nobody.ports.test', target)).toMatch(/^HTTP\/1.1 4(00|21) /);
    expect(await ask('other.ports.test', target.replace('example.org', HOST))).toMatch(/^HTTP\/1.1 (400|503) /);
    expect(application.seen).toEqual([]);
    const reply = await ask(HOST, target);
    expect(reply).toMatch(path === undefined ? /^HTTP\/1.1 400 / : /^HTTP\/1.1 200 /);
    expect(application.seen.map(({ url }) => url)).toEqual(path === undefined ? [] : [path]);
  });
});
