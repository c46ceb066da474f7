import type { ServerResponse } from 'node:http';
import { createHttpService, type VolumeFiles } from '@sluice/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instantClock } from '../rig/instant-clock.ts';
import { type Handler, json, scriptedServer } from '../rig/scripted-server.ts';
import { CONTAINER, outcome, REF, SCOPE, withService } from '../rig/with-service.ts';

const TOKEN = 'token-0123456789abcdef';
const PASSWORD = 'volume-password-of-ours';
const HUGE = 'x'.repeat(10_000_000);
/** For what never comes. All else has the client's own time limits: a busy machine may need them. */
const SHORT = { replyMs: 2_000, bodyMs: 200 };

/** The client with a token that a service could show, and the files of a volume on the same server. */
async function open(handle: Handler, timeouts?: typeof SHORT) {
  const server = await scriptedServer(handle);
  const service = createHttpService({
    baseUrl: server.url,
    token: TOKEN,
    clock: instantClock(),
    ...(timeouts && { timeouts }),
  });
  onTestFinished(async () => {
    await service.close();
    await server.close();
  });
  const login = { username: 'me', password: PASSWORD, address: { webdav: `${server.url}/dav` } };
  return { service, server, files: service.volumes.files(REF, login) };
}

/** Sends until the client goes. */
function sendForEver(reply: ServerResponse, piece: string): void {
  const send = () => {
    while (!reply.destroyed && reply.write(piece));
  };
  reply.on('drain', send).on('error', () => {});
  send();
}

const KIND =
  '<D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>';
const multistatus = (...hrefs: string[]) =>
  `<D:multistatus xmlns:D="DAV:">${hrefs.map((href) => `<D:response><D:href>${href}</D:href>${KIND}</D:response>`).join('')}</D:multistatus>`;
const collect = async (pieces: AsyncIterable<Uint8Array>) => {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts).toString();
};
const verbs: readonly [string, (files: VolumeFiles) => Promise<unknown>][] = [
  ['stat', (files) => files.stat('a')],
  ['list', (files) => files.list('a')],
  ['read', (files) => files.read('a')],
  ['write', (files) => files.write('a', Buffer.from('x'))],
  ['makeDirectory', (files) => files.makeDirectory('a')],
  ['link', (files) => files.link('a', 'b')],
  ['move', (files) => files.move('a', 'b')],
  ['remove', (files) => files.remove('a')],
];

describe('a hostile service', () => {
  it.each(verbs)('a redirect of %s is an error, goes nowhere, and is not tried again', async (name, call) => {
    const other = await scriptedServer((_, reply) => void reply.writeHead(200).end());
    onTestFinished(() => other.close());
    const { files, server } = await open((_, reply) => void reply.writeHead(302, { location: other.url }).end());
    await expect(call(files)).rejects.toMatchObject({ code: 'INVALID_REPLY', status: 302 });
    expect(other.seen).toEqual([]);
    // What may have been written is removed.
    expect(server.seen.filter(({ method }) => method !== 'DELETE' || name === 'remove')).toHaveLength(1);
  });

  it('a redirect of the API goes nowhere: the token stays with its host', async () => {
    const other = await scriptedServer((_, reply) => json(reply, CONTAINER));
    onTestFinished(() => other.close());
    const { service } = await open((_, reply) => void reply.writeHead(307, { location: other.url }).end());
    for (const call of [service.containers.get(REF), service.containers.create(SCOPE, { instanceType: 's' })]) {
      await expect(call).rejects.toMatchObject({ code: 'INVALID_REPLY', status: 307 });
    }
    expect(other.seen).toEqual([]);
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.org/',
    'http://user:pass@example.org/',
    'nonsense',
    `http://example.org/${HUGE}`,
  ])('the address of a volume is rejected: %.40s', async (webdav) => {
    const { service } = await withService(() => {});
    const login = { username: 'me', password: PASSWORD, address: { webdav } };
    const error = await Promise.resolve()
      .then(() => service.volumes.files(REF, login))
      .catch((it: unknown) => it);
    expect(error).toMatchObject({ name: 'ServiceError', code: 'INVALID_REPLY' });
    expect((error as Error).message.length).toBeLessThan(500);
    expect((error as Error).message).not.toContain('pass@');
  });

  it.each([
    ['https://api.example.org', 'http://files.example.org/v', false],
    ['https://api.example.org', 'https://files.example.org/v', true],
    ['http://api.example.org', 'http://127.0.0.1/v', false],
    ['http://api.example.org', 'http://[::1]:80/v', false],
    ['http://api.example.org', 'http://169.254.169.254/v', false],
    ['http://api.example.org', 'http://2130706433/v', false],
    ['http://api.example.org', 'http://localhost./v', false],
    ['http://127.0.0.1:1', 'http://localhost/v', true],
  ])('a service at %s may give the address %s: %s', async (baseUrl, webdav, allowed) => {
    const service = createHttpService({ baseUrl, token: TOKEN });
    onTestFinished(() => service.close());
    const login = { username: 'me', password: PASSWORD, address: { webdav } };
    const made = () => service.volumes.files(REF, login);
    if (allowed) expect(made()).toBeDefined();
    else expect(made).toThrow(expect.objectContaining({ code: 'INVALID_REPLY' }));
  });

  it('a state of ten megabytes is cut, and a name of ten megabytes is no name', async () => {
    const { service } = await open((seen, reply) =>
      json(reply, seen.url.endsWith('/x1') ? { ...CONTAINER, state: HUGE } : { containers: [{ ...REF, id: HUGE }] }),
    );
    expect((await service.containers.get(REF)).state?.length).toBeLessThan(5_000);
    const error = await outcome(collect(service.containers.list(SCOPE) as never));
    expect(error).toMatchObject({ code: 'INVALID_REPLY' });
    expect((error as Error).message.length).toBeLessThan(1_000);
  });

  it('page tokens of ten megabytes end a list', async () => {
    const { service, server } = await open((_, reply) => json(reply, { containers: [], nextPageToken: HUGE }));
    expect(await outcome(collect(service.containers.list(SCOPE) as never))).toMatchObject({ code: 'INVALID_REPLY' });
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ['a name of ten megabytes', multistatus('/dav/', `/dav/${HUGE}`)],
    ['a name that leads out', multistatus('/dav/', '/dav/%2e%2e')],
    ['a name with NUL', multistatus('/dav/', '/dav/a%00b')],
    ['a name that is not encoded', multistatus('/dav/', '/dav/%zz')],
  ])('a directory with %s cannot be listed', async (_, body) => {
    const { files } = await open((__, reply) => void reply.writeHead(207).end(body));
    await expect(files.list('')).rejects.toMatchObject({ code: 'INVALID_REPLY' });
  });

  it('a body without an end is left: of the API, of an error, of a listing, of a range', async () => {
    const { service, files } = await open((seen, reply) => {
      const status =
        seen.method === 'PROPFIND' ? 207 : seen.method === 'GET' && seen.url.startsWith('/dav') ? 206 : 200;
      if (seen.url.endsWith('/bad')) reply.writeHead(400);
      else reply.writeHead(status, { 'content-range': 'bytes 0-9/100' });
      sendForEver(reply, seen.method === 'PROPFIND' ? 'y'.repeat(60_000) : 'z'.repeat(60_000));
    });
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'INVALID_REPLY' });
    await expect(service.containers.get({ ...REF, id: 'bad' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(files.list('a')).rejects.toMatchObject({ code: 'INVALID_REPLY' });
    expect(await collect(await files.read('a', { start: 0, end: 10 }))).toBe('z'.repeat(10));
  });

  it('a body that stops in the middle is given up', async () => {
    const { service, files } = await open((_, reply) => void reply.writeHead(207).write('<'), SHORT);
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'NO_REPLY' });
    await expect(files.list('a')).rejects.toMatchObject({ code: 'NO_REPLY' });
  });

  it('the token is shown in no state, error or log, also where it comes in pieces', async () => {
    const { service } = await open((seen, reply) => {
      const echo = `you sent ${seen.headers.authorization}`;
      if (seen.url.includes('/logs')) {
        reply.writeHead(200);
        for (const piece of [echo.slice(0, -7), echo.slice(-7, -2), `${echo.slice(-2)} and tok`]) reply.write(piece);
        reply.end('en-01');
      } else if (seen.method === 'DELETE') json(reply, { code: 403, message: echo }, 403);
      else if (seen.url.includes('/volumes')) json(reply, { volumes: [{ ...REF, state: echo }] });
      else
        json(
          reply,
          seen.url.includes('/x1') ? { ...CONTAINER, state: echo } : { containers: [{ ...REF, state: echo }] },
        );
    });
    expect((await service.containers.get(REF)).state).toBe('you sent Bearer [secret]');
    for await (const { state } of service.containers.list(SCOPE)) expect(state).toBe('you sent Bearer [secret]');
    for await (const { state } of service.volumes.list(SCOPE)) expect(state).toBe('you sent Bearer [secret]');
    expect(((await outcome(service.containers.delete(REF))) as Error).message).toContain('Bearer [secret]');
    expect(await collect(service.containers.logs(REF))).toBe('you sent Bearer [secret] and token-01');
  });
});
