import { createWebDavFiles } from '@sluice/client';
import { describeVolumeFiles } from '@sluice/client/contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instantClock } from '../rig/instant-clock.ts';
import { type Handler, scriptedServer } from '../rig/scripted-server.ts';
import { hasApache, openApache } from './apache.ts';

describe.skipIf(!hasApache())('createWebDavFiles against Apache', () => {
  describeVolumeFiles('Apache mod_dav', async () => {
    const { url, username, password, close } = await openApache();
    // Apache replies 403 where the file is deleted after it looked for it and before it opens it (AH00132).
    const gap = ['NOT_FOUND', 'PERMISSION_DENIED'] as const;
    return { files: createWebDavFiles({ url, username, password }), gap, close };
  });
});

async function withFiles(handle: Handler) {
  const server = await scriptedServer(handle);
  onTestFinished(() => server.close());
  const clock = instantClock();
  const options = { url: `${server.url}/dav/v1`, username: 'üser', password: 'pass', clock };
  return { server, clock, files: createWebDavFiles(options) };
}

async function read(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}

const entry = (href: string, kind: 'dir' | 'file') =>
  `<D:response><D:href>${href}</D:href><D:propstat><D:prop><D:resourcetype>${
    kind === 'dir' ? '<D:collection/>' : ''
  }</D:resourcetype><D:getcontentlength>7</D:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`;
const multistatus = (...entries: string[]) => `<D:multistatus xmlns:D="DAV:">${entries.join('')}</D:multistatus>`;

describe('createWebDavFiles', () => {
  it('login: is sent as Basic in UTF-8, and shown in no error', async () => {
    const { files, server } = await withFiles((_, reply) => void reply.writeHead(401).end());
    const failed: unknown = await files.stat('x').catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'UNAUTHENTICATED' });
    const header = `Basic ${Buffer.from('üser:pass').toString('base64')}`;
    expect(server.seen[0]?.headers.authorization).toBe(header);
    expect(String(failed)).not.toMatch(/pass|Basic/);
  });

  it('read: goes on where the connection broke, as long as the file is the same', async () => {
    const bytes = 'x'.repeat(5000) + 'y'.repeat(5000);
    const { files, server } = await withFiles((seen, reply, number) => {
      const from = Number(/bytes=(\d+)-/.exec(seen.headers.range ?? '')?.[1] ?? 0);
      reply.writeHead(from === 0 ? 200 : 206, { etag: '"v1"', 'content-length': String(bytes.length - from) });
      if (number === 3) return void reply.end(bytes.slice(from));
      reply.write(bytes.slice(from, from + 3000), () => setImmediate(() => reply.destroy()));
    });
    expect(await read(await files.read('f'))).toBe(bytes);
    expect(server.seen.map((it) => [it.headers.range, it.headers['if-range']])).toEqual([
      [undefined, undefined],
      ['bytes=3000-', '"v1"'],
      ['bytes=6000-', '"v1"'],
    ]);
  });

  it('read: does not mix two versions of a file', async () => {
    const { files } = await withFiles((_, reply, number) => {
      reply.writeHead(200, { etag: `"v${number}"`, 'content-length': '9000' });
      reply.write('x'.repeat(3000), () => setImmediate(() => reply.destroy()));
    });
    const stream = await files.read('f');
    await expect(read(stream)).rejects.toMatchObject({
      code: 'NO_REPLY',
      message: expect.stringContaining('replaced'),
    });
  });

  it('read: without a strong tag a break is an error', async () => {
    const { files, server } = await withFiles((_, reply) => {
      reply.writeHead(200, { etag: 'W/"v1"', 'content-length': '9000' });
      reply.write('x'.repeat(3000), () => setImmediate(() => reply.destroy()));
    });
    const stream = await files.read('f');
    await expect(read(stream)).rejects.toMatchObject({ code: 'NO_REPLY' });
    expect(server.seen).toHaveLength(1);
  });

  it('read: cuts the range itself where the server does not mind it', async () => {
    const { files } = await withFiles((_, reply) => void reply.end('0123456789'));
    expect(await read(await files.read('f', { start: 2, end: 5 }))).toBe('234');
    expect(await read(await files.read('f', { start: 8 }))).toBe('89');
  });

  it('write: a lost reply to the last step is found out, and nothing is left behind', async () => {
    let there = false;
    const { files, server } = await withFiles((seen, reply) => {
      if (seen.method !== 'MOVE') return void reply.writeHead(201).end();
      if (there) return void reply.writeHead(404).end();
      there = true;
      reply.destroy();
    });
    await files.write('a', Buffer.from('x'));
    expect(server.seen.map((it) => it.method)).toEqual(['PUT', 'MOVE', 'MOVE']);
  });

  it('write: a stream is sent once, and what was sent is removed after a failure', async () => {
    const { files, server } = await withFiles((seen, reply) => {
      if (seen.method === 'PUT') reply.writeHead(507).end();
      else reply.writeHead(seen.method === 'MKCOL' ? 201 : 204).end();
    });
    async function* body() {
      yield Buffer.from('x');
    }
    await expect(files.write('d/a', body())).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    const put = server.seen.find((it) => it.method === 'PUT');
    expect(put?.url).toMatch(/^\/dav\/v1\/d\/\.sluice-[0-9a-f]{24}\.part$/);
    expect(server.seen.filter((it) => it.url === put?.url).map((it) => it.method)).toEqual(['PUT', 'DELETE']);
  });

  it('write: a stream of another length than its size is INVALID_ARGUMENT', async () => {
    const { files } = await withFiles((_, reply) => void reply.writeHead(201).end());
    for (const size of [3, 7]) {
      async function* body() {
        yield Buffer.from('12345');
      }
      await expect(files.write('a', body(), { size })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });

  it('write: the error of the source comes back as it is', async () => {
    const { files } = await withFiles((_, reply) => void reply.writeHead(201).end());
    const broken = new Error('disk on fire');
    async function* body() {
      yield Buffer.alloc(100_000);
      throw broken;
    }
    await expect(files.write('a', body())).rejects.toBe(broken);
  });

  it('write: executable is asked for before the file is in its place', async () => {
    const { files, server } = await withFiles((_, reply) => void reply.writeHead(201).end());
    await files.write('run.sh', Buffer.from('#!/bin/sh\n'), { executable: true });
    expect(server.seen.map((it) => it.method)).toEqual(['PUT', 'PROPPATCH', 'MOVE']);
    expect(server.seen[1]?.body).toContain('http://apache.org/dav/props/');
  });

  it('move: a lost reply is found out', async () => {
    let done = false;
    const { files, server } = await withFiles((seen, reply) => {
      if (seen.method === 'PROPFIND') return void reply.writeHead(207).end(multistatus(entry('/dav/v1/b', 'file')));
      if (done) return void reply.writeHead(404).end();
      done = true;
      reply.destroy();
    });
    await files.move('a', 'b');
    expect(server.seen.map((it) => it.method)).toEqual(['MOVE', 'MOVE', 'PROPFIND']);
    expect(server.seen[0]?.headers).toMatchObject({ overwrite: 'F', destination: `${server.url}/dav/v1/b` });
    await expect(files.move('a', 'b')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('list: reads absolute URLs, other prefixes, and hides files that are still being written', async () => {
    const part = '.sluice-0123456789abcdef01234567.part';
    const { files } = await withFiles((_, reply) => {
      const names = ['d/', 'd/b%20c', `d/${part}`, 'd/sub/', 'd/%E6%97%A5'];
      const bodies = names.map((it) => entry(`https://front.example/other/${it}`, it.endsWith('/') ? 'dir' : 'file'));
      reply.writeHead(207).end(multistatus(...bodies));
    });
    expect(await files.list('d')).toEqual([
      { path: 'd/b c', kind: 'file', size: 7, modifiedAt: 0 },
      { path: 'd/sub', kind: 'dir', size: 0, modifiedAt: 0 },
      { path: 'd/日', kind: 'file', size: 7, modifiedAt: 0 },
    ]);
  });

  it.each([
    ['not XML', 'hello'],
    ['half of it', '<D:multistatus xmlns:D="DAV:"><D:response>'],
    ['an entity of its own', '<!DOCTYPE x [<!ENTITY a "aaaa">]><D:multistatus xmlns:D="DAV:">&a;</D:multistatus>'],
    ['endless nesting', '<a>'.repeat(100_000)],
    ['bytes that are no UTF-8', Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0xfe])],
    ['a path that cannot be decoded', multistatus(entry('/dav/%zz', 'dir'))],
  ])('list: a 207 with %s is INVALID_REPLY', async (_, body) => {
    const { files } = await withFiles((_seen, reply) => void reply.writeHead(207).end(body));
    await expect(files.list('')).rejects.toMatchObject({ code: 'INVALID_REPLY' });
  });

  it('stat: is tried again, a MOVE that was rejected is not', async () => {
    const { files, server } = await withFiles((seen, reply, number) => {
      if (seen.method === 'MOVE') return void reply.writeHead(423).end();
      if (number < 3) return void reply.destroy();
      reply.writeHead(207).end(multistatus(entry('/dav/v1/x', 'file')));
    });
    expect(await files.stat('x')).toMatchObject({ kind: 'file', size: 7 });
    await expect(files.move('x', 'y')).rejects.toMatchObject({ code: 'FAILED_PRECONDITION', status: 423 });
    expect(server.seen).toHaveLength(4);
  });
});
