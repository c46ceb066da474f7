import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLocalAuthority } from '../../src/proxy/local-authority.ts';
import { API, openRawHttp, type RawHttp } from './raw-http.ts';

/** Over TCP and TLS: the end and the target of a request must be unambiguous. */
describe.each(['http', 'https'])('hostile bytes over %s', (scheme) => {
  let http: RawHttp;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
    http = await openRawHttp(scheme === 'http' ? {} : { config: { tls: await makeCertificate(directory) } });
  });
  afterAll(async () => {
    await http.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });

  function open(): Socket {
    const port = Number(new URL(http.url).port);
    return scheme === 'http'
      ? connect(port, '127.0.0.1')
      : connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  }

  /** Everything received until the service closes the connection. */
  function exchange(bytes: string): Promise<string> {
    return new Promise((resolve) => {
      let text = '';
      const socket = open();
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1');
      });
      socket.once('close', () => resolve(text));
      socket.on('error', () => {});
      socket.write(bytes, 'latin1');
    });
  }

  const everything = async () =>
    (await Promise.all(['containers?all=true', 'volumes'].map((list) => http.send('GET', `${API}/${list}`)))).map(
      ({ text }) => text,
    );
  /** A create request that would be accepted if it were read as a separate request. */
  const smuggled = () =>
    `POST ${API}/volumes?volumeID=smuggled HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${http.token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
  const head = (...lines: string[]) =>
    `${[`POST ${API}/containers/none:cancel HTTP/1.1`, 'Host: x', `Authorization: Bearer ${http.token}`, ...lines].join('\r\n')}\r\n\r\n`;

  it.each<[string, () => string, number]>([
    ['a header without end', () => `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}`, 431],
    ['very many headers', () => head(...Array.from({ length: 5000 }, (_, i) => `x-${i}: ${'y'.repeat(20)}`)), 431],
    ['no HTTP', () => 'hello\r\n\r\n', 400],
    ['HTTP/2 without a negotiation', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['an unknown method', () => 'BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['no Host', () => 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    ['a control character in a header', () => 'GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\x01b\r\n\r\n', 400],
    ['a folded header', () => head('Transfer-Encoding:', ' chunked') + smuggled(), 400],
    ['a space before the colon', () => head('Content-Length : 3') + smuggled(), 400],
    ['two lengths', () => head('Content-Length: 0', 'Content-Length: 3') + smuggled(), 400],
    ['two lengths in one', () => head('Content-Length: 0, 3') + smuggled(), 400],
    [
      'a length and chunks',
      () => `${head('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n${smuggled()}`,
      400,
    ],
    [
      'chunks and a length',
      () => `${head('Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n${smuggled()}`,
      400,
    ],
    ['a coding after chunked', () => `${head('Transfer-Encoding: chunked, identity')}0\r\n\r\n${smuggled()}`, 400],
    ['an obscured coding', () => `${head('Transfer-Encoding: xchunked')}0\r\n\r\n${smuggled()}`, 400],
    ['a length with a sign', () => head('Content-Length: +0') + smuggled(), 400],
    ['a length in hexadecimal', () => head('Content-Length: 0x0') + smuggled(), 400],
    ['a negative length', () => head('Content-Length: -1') + smuggled(), 400],
    ['a chunk size with a sign', () => `${head('Transfer-Encoding: chunked')}+0\r\n\r\n${smuggled()}`, 400],
    ['a chunk size too large for a number', () => `${head('Transfer-Encoding: chunked')}fffffffffffffffff\r\n`, 400],
    ['a chunk longer than its size', () => `${head('Transfer-Encoding: chunked')}1\r\nabc\r\n0\r\n\r\n`, 400],
    ['a bare line feed after a header', () => `GET /healthz HTTP/1.1\nHost: x\n\n`, 400],
    ['a bare carriage return in a header', () => head('X: a\rTransfer-Encoding: chunked') + smuggled(), 400],
    ['a NUL in a header name', () => head('X\0: a') + smuggled(), 400],
    ['a space in the target', () => `GET /healthz x HTTP/1.1\r\nHost: x\r\n\r\n`, 400],
  ])('%s: is an error, ends the connection and changes nothing', async (_, bytes, status) => {
    const before = await everything();
    const reply = await exchange(bytes());
    expect(statusesOf(reply)).toEqual([status]);
    // If the Host is missing, Node itself replies, without a body.
    const body = reply.slice(reply.indexOf('\r\n\r\n') + 4);
    if (body !== '0\r\n\r\n') expect(JSON.parse(body)).toMatchObject({ code: status });
    expect(await everything()).toEqual(before);
  });

  it('an incomplete body or a disconnect changes nothing', async () => {
    const before = await everything();
    for (const bytes of [
      smuggled().replace('Content-Length: 2', 'Content-Length: 20'),
      smuggled().replace('Content-Length: 2', 'Transfer-Encoding: chunked').replace('{}', '2\r\n{}\r\n'),
    ]) {
      const socket = open();
      socket.on('error', () => {});
      socket.write(bytes, 'latin1');
      // A reply on another connection shows that the earlier bytes have been read.
      await everything();
      socket.destroy();
    }
    expect(await everything()).toEqual(before);
  });

  it('invalid bytes after a request do not damage its reply', async () => {
    const create = smuggled().replace('Connection: close\r\n', '').replace('=smuggled', '=answered');
    expect(statusesOf(await exchange(`${create}no request\r\n\r\n`))).toEqual([200]);
    expect((await everything()).join()).toContain('"answered"');
  });

  it('pipelined requests are answered in order', async () => {
    const get = (path: string, last = false) =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
    const reply = await exchange(get('/healthz') + get('/none') + get('/healthz', true));
    expect(statusesOf(reply)).toEqual([200, 404, 200]);
  });
});

/** The status codes of all replies on a connection. */
function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
}

async function makeCertificate(directory: string): Promise<{ certFile: string; keyFile: string }> {
  const { cert, key } = await openLocalAuthority(directory, { domain: 'api.test' });
  const files = { certFile: join(directory, 'api.pem'), keyFile: join(directory, 'api.key') };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
  return files;
}
