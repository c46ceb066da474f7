import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTransferThrottle } from '../../../src/volumes/transfer-throttle.ts';
import { createWebDavHandler } from '../../../src/volumes/webdav/webdav-handler.ts';
import { openDavRig } from './dav-rig.ts';

const LOCK_BODY =
  '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>me</owner></lockinfo>';

function propertyUpdate(inner: string): string {
  return `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>${inner}</D:prop></D:set></D:propertyupdate>`;
}

function askFor(inner: string): string {
  return `<D:propfind xmlns:D="DAV:"><D:prop>${inner}</D:prop></D:propfind>`;
}

describe('createWebDavHandler, who comes in', () => {
  test('asks for a login, and answers an unknown login and a wrong password alike', async () => {
    const rig = await openDavRig();
    const basic = (login: string) => ({ authorization: `Basic ${Buffer.from(login).toString('base64')}` });
    const replies = [
      await rig.send('GET', '/', { headers: { authorization: '' } }),
      await rig.send('GET', '/', { headers: basic('data:wrong') }),
      await rig.send('GET', '/', { headers: basic('nobody:secret-nobody') }),
      await rig.send('GET', '/', { headers: { authorization: 'Bearer x' } }),
      await rig.send('GET', '/', { headers: { authorization: 'Basic !' } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.headers['www-authenticate']).toContain('Basic');
  });

  test('slows guessing down, and forgives with time', async () => {
    let at = 1_000_000;
    const rig = await openDavRig({ throttle: createTransferThrottle(() => at) });
    const guess = () => rig.send('GET', '/', { headers: { authorization: `Basic ${btoa('data:guess')}` } });
    const statuses: number[] = [];
    for (let round = 0; round < 12; round += 1) statuses.push((await guess()).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(10)).toEqual([429, 429]);
    expect((await rig.send('GET', '/')).status).toBe(429);
    expect((await guess()).headers['retry-after']).toBe('1');
    at += 1_001;
    expect((await rig.send('GET', '/')).status).toBe(200);
    expect((await guess()).status).toBe(401);
  });

  test('serves each volume beneath its prefix only', async () => {
    const rig = await openDavRig({ prefixOf: (session) => `/dav/${session.clusterID}/${session.volumeID}` });
    expect((await rig.send('PUT', '/dav/local/data/f', { body: 'x' })).status).toBe(201);
    expect((await rig.send('GET', '/dav/local/data/f')).text).toBe('x');
    const listed = await rig.send('PROPFIND', '/dav/local/data/', { headers: { depth: '1' } });
    expect([...listed.text.matchAll(/<D:href>([^<]*)/g)].map(([, href]) => href)).toEqual([
      '/dav/local/data/',
      '/dav/local/data/f',
    ]);
    rig.access.add('other');
    for (const path of ['/dav/local/other/', '/dav/local/datax', '/f', '/dav/local']) {
      expect((await rig.send('GET', path)).status).toBe(404);
    }
    const destination = `${rig.url}/dav/local/other/f`;
    expect((await rig.send('MOVE', '/dav/local/data/f', { headers: { destination } })).status).toBe(404);
  });

  test('cuts uploads and logins of a revoked volume at once and leaves no half file', async () => {
    const rig = await openDavRig();
    const socket = connect(rig.port, '127.0.0.1');
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.write(
      `PUT /big HTTP/1.1\r\nHost: x\r\nAuthorization: ${rig.authorization}\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000)}`,
    );
    await expect.poll(() => readdirSync(rig.session.root).length).toBe(1);
    rig.access.revoke('data');
    await closed;
    await expect.poll(() => readdirSync(rig.session.root)).toEqual([]);
    expect((await rig.send('GET', '/')).status).toBe(401);
    expect(rig.errors).toEqual([]);
  });
});

describe('createWebDavHandler, files', () => {
  test('gives whole files, ranges and validators', async () => {
    const rig = await openDavRig();
    const put = await rig.send('PUT', '/a%20b.txt', { body: '0123456789' });
    const etag = String(put.headers.etag);
    expect(put.status).toBe(201);
    const get = (headers: Record<string, string>) => rig.send('GET', '/a%20b.txt', { headers });
    expect(await get({})).toMatchObject({ status: 200, text: '0123456789', headers: { etag, 'content-length': '10' } });
    expect(await get({ range: 'bytes=2-4' })).toMatchObject({ status: 206, text: '234' });
    expect(await get({ range: 'bytes=-3' })).toMatchObject({ status: 206, text: '789' });
    expect(await get({ range: 'bytes=8-99' })).toMatchObject({ status: 206, text: '89' });
    expect((await get({ range: 'bytes=8-99' })).headers['content-range']).toBe('bytes 8-9/10');
    expect(await get({ range: 'bytes=10-' })).toMatchObject({ status: 416 });
    expect(await get({ range: 'bytes=5-2' })).toMatchObject({ status: 200 });
    expect(await get({ range: 'bytes=1-2', 'if-range': '"other"' })).toMatchObject({ status: 200 });
    expect(await get({ 'if-none-match': etag })).toMatchObject({ status: 304, text: '' });
    expect(await get({ 'if-match': '"other"' })).toMatchObject({ status: 412 });
    expect((await rig.send('HEAD', '/a%20b.txt')).headers['content-length']).toBe('10');
    expect((await rig.send('GET', '/')).text).toBe('a b.txt\n');
  });

  test('replaces a file only under the client’s conditions', async () => {
    const rig = await openDavRig();
    const put = (headers: Record<string, string>) => rig.send('PUT', '/f', { headers, body: 'x' });
    expect((await put({ 'if-match': '*' })).status).toBe(412);
    expect((await put({ 'if-none-match': '*' })).status).toBe(201);
    expect((await put({ 'if-none-match': '*' })).status).toBe(412);
    expect((await put({ 'if-match': '*' })).status).toBe(204);
    expect((await put({ 'content-range': 'bytes 0-0/1' })).status).toBe(400);
    expect((await rig.send('PUT', '/absent/f', { body: 'x' })).status).toBe(409);
    expect((await rig.send('PUT', '/', { body: 'x' })).status).toBe(405);
  });

  test('keeps the old file when an upload breaks off', async () => {
    const rig = await openDavRig();
    await rig.send('PUT', '/f', { body: 'old' });
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(`PUT /f HTTP/1.1\r\nHost: x\r\nAuthorization: ${rig.authorization}\r\nContent-Length: 100\r\n\r\nnew`);
    await expect.poll(() => readdirSync(rig.session.root).length).toBe(2);
    socket.destroy();
    await expect.poll(() => readdirSync(rig.session.root)).toEqual(['f']);
    expect(readFileSync(join(rig.session.root, 'f'), 'utf8')).toBe('old');
    expect(rig.errors).toEqual([]);
  });

  test('stays inside the volume, whatever path or link', async () => {
    const rig = await openDavRig();
    const outside = join(rig.session.root, '..', 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync('../outside', join(rig.session.root, 'link'));
    symlinkSync(outside, join(rig.session.root, 'absolute'));
    for (const path of [
      '/link/secret',
      '/absolute/secret',
      '/../outside/secret',
      '/%2e%2e/outside/secret',
      '/a%2Fb',
      '/%00',
      '/%f',
    ]) {
      for (const method of ['GET', 'PROPFIND', 'PUT', 'DELETE', 'MKCOL', 'LOCK', 'PROPPATCH']) {
        const body = method === 'LOCK' ? LOCK_BODY : undefined;
        const reply = await rig.send(method, path, {
          headers: { depth: '0' },
          ...(body === undefined ? {} : { body }),
        });
        expect([method, path, reply.status >= 400 && reply.status < 500]).toEqual([method, path, true]);
        expect(reply.text).not.toContain(outside);
      }
    }
    await rig.send('PUT', '/mine', { body: 'x' });
    for (const method of ['COPY', 'MOVE']) {
      for (const to of ['/link/new', '/absolute/new', '/%2e%2e/outside/new']) {
        const reply = await rig.send(method, '/mine', { headers: { destination: rig.url + to } });
        expect(reply.status).toBeGreaterThanOrEqual(400);
      }
    }
    expect(readdirSync(outside)).toEqual(['secret']);
    expect((await rig.send('PROPFIND', '/', { headers: { depth: '1' } })).text).not.toContain('link');
  });

  test('copies links that stay inside and leaves others away', async () => {
    const rig = await openDavRig();
    mkdirSync(join(rig.session.root, 'd'));
    writeFileSync(join(rig.session.root, 'd/f'), 'x');
    symlinkSync('f', join(rig.session.root, 'd/in'));
    symlinkSync('/etc/passwd', join(rig.session.root, 'd/out'));
    expect((await rig.send('COPY', '/d', { headers: { destination: '/e' } })).status).toBe(201);
    expect(readdirSync(join(rig.session.root, 'e')).sort()).toEqual(['f', 'in']);
    expect((await rig.send('GET', '/e/in')).text).toBe('x');
  });

  test('COPY and MOVE reject themselves, what is inside themselves, and another server', async () => {
    const rig = await openDavRig();
    await rig.send('MKCOL', '/d');
    for (const method of ['COPY', 'MOVE']) {
      const to = async (destination: string) => (await rig.send(method, '/d', { headers: { destination } })).status;
      expect([await to('/d'), await to('/d/e'), await to('http://elsewhere/x'), await to('/')]).toEqual([
        403, 403, 502, 403,
      ]);
    }
    expect((await rig.send('MOVE', '/d')).status).toBe(400);
    expect((await rig.send('DELETE', '/')).status).toBe(403);
    expect(readdirSync(rig.session.root)).toEqual(['d']);
  });

  test('never shows or serves what is half written', async () => {
    const rig = await openDavRig();
    writeFileSync(join(rig.session.root, '.sluice-tmp-x'), 'half');
    expect((await rig.send('GET', '/.sluice-tmp-x')).status).toBe(403);
    expect((await rig.send('GET', '/')).text).toBe('');
  });

  test('sees and sets the executable bit through its property', async () => {
    const rig = await openDavRig();
    await rig.send('PUT', '/run', { body: '#!/bin/sh' });
    const set = (value: string) =>
      rig.send('PROPPATCH', '/run', {
        body: propertyUpdate(`<A:executable xmlns:A="http://apache.org/dav/props/">${value}</A:executable>`),
      });
    expect((await set('T')).text).toContain('200 OK');
    expect(statSync(join(rig.session.root, 'run')).mode & 0o111).not.toBe(0);
    expect((await set('F')).text).toContain('200 OK');
    expect(statSync(join(rig.session.root, 'run')).mode & 0o111).toBe(0);
    expect((await set('maybe')).text).toContain('403 Forbidden');
    // It is a bit of the file: the volume's properties are not stored again for it.
    expect(existsSync(rig.session.propertiesPath)).toBe(false);
  });
});

describe('createWebDavHandler, properties and locks', () => {
  test('keeps dead properties over a restart, through MOVE and COPY, outside the volume', async () => {
    const rig = await openDavRig();
    await rig.send('PUT', '/f', { body: 'x' });
    const value = '<x:note xmlns:x="urn:x" xml:lang="de">a <b xmlns="">&amp;</b></x:note>';
    expect((await rig.send('PROPPATCH', '/f', { body: propertyUpdate(value) })).status).toBe(207);
    await rig.send('COPY', '/f', { headers: { destination: '/g' } });
    await rig.send('MOVE', '/f', { headers: { destination: '/h' } });
    rig.server.removeAllListeners('request');
    rig.server.on('request', createWebDavHandler(rig.access));
    for (const path of ['/g', '/h']) {
      const found = await rig.send('PROPFIND', path, {
        headers: { depth: '0' },
        body: askFor('<n:note xmlns:n="urn:x"/>'),
      });
      expect(found.text).toMatch(/<x:note [^>]*xml:lang="de">a <b[^>]*>&amp;<\/b><\/x:note>/);
    }
    await rig.send('DELETE', '/h');
    await rig.send('PUT', '/h', { body: 'new' });
    const gone = await rig.send('PROPFIND', '/h', {
      headers: { depth: '0' },
      body: askFor('<n:note xmlns:n="urn:x"/>'),
    });
    expect(gone.text).toContain('404 Not Found');
    expect(readdirSync(rig.session.root).sort()).toEqual(['g', 'h']);
    expect(existsSync(rig.session.propertiesPath)).toBe(true);
  });

  test('a lock ends when its time is over', async () => {
    let at = 0;
    const rig = await openDavRig({ now: () => at });
    const lock = await rig.send('LOCK', '/f', { body: LOCK_BODY, headers: { timeout: 'Second-60' } });
    expect([lock.status, lock.headers['lock-token']]).toEqual([201, expect.stringMatching(/^<urn:uuid:.*>$/)]);
    expect((await rig.send('PUT', '/f', { body: 'x' })).status).toBe(423);
    expect((await rig.send('DELETE', '/')).status).toBe(403);
    at = 61_000;
    expect((await rig.send('PUT', '/f', { body: 'x' })).status).toBe(204);
  });

  test('a lock on a directory guards what is in it, and who comes and goes', async () => {
    const rig = await openDavRig();
    await rig.send('MKCOL', '/d');
    const lock = await rig.send('LOCK', '/d', { body: LOCK_BODY });
    const held = { if: `</d> (${lock.headers['lock-token']})` };
    expect((await rig.send('PUT', '/d/f', { body: 'x' })).status).toBe(423);
    expect((await rig.send('PUT', '/d/f', { body: 'x', headers: held })).status).toBe(201);
    expect((await rig.send('MOVE', '/d/f', { headers: { destination: '/f' } })).status).toBe(423);
    expect((await rig.send('LOCK', '/d/f', { body: LOCK_BODY })).status).toBe(423);
    const bare = String(lock.headers['lock-token']).slice(1, -1);
    expect((await rig.send('UNLOCK', '/d', { headers: { 'lock-token': bare } })).status).toBe(204);
    expect((await rig.send('UNLOCK', '/d', { headers: { 'lock-token': bare } })).status).toBe(409);
  });

  test('bounds the locks and the properties of a volume', async () => {
    const rig = await openDavRig();
    for (let index = 0; index < 1_000; index += 1) {
      const reply = await rig.send('LOCK', `/f${index}`, { body: LOCK_BODY });
      expect(reply.status).toBe(201);
    }
    expect((await rig.send('LOCK', '/more', { body: LOCK_BODY })).status).toBe(507);
    const large = propertyUpdate(`<x xmlns="urn:x">${'y'.repeat(1_000_000)}</x>`);
    const statuses: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      await rig.send('PUT', `/g${index}`, { body: '' });
      statuses.push((await rig.send('PROPPATCH', `/g${index}`, { body: large })).status);
    }
    expect(statuses).toEqual([207, 207, 207, 207, 507, 507]);
  });
});

describe('createWebDavHandler, hostile bodies', () => {
  const bomb = `<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, i) => `<!ENTITY ${'bcdefghij'[i]} "${`&${'abcdefghi'[i]};`.repeat(10)}">`).join('')}]><D:propfind xmlns:D="DAV:"><D:prop>&j;</D:prop></D:propfind>`;

  test.each([
    ['entities', bomb, 400],
    ['an external entity', '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><p>&x;</p>', 400],
    ['a thousand levels', `${'<a>'.repeat(1_000)}${'</a>'.repeat(1_000)}`, 413],
    ['a hundred thousand elements', `<a>${'<b/>'.repeat(100_000)}</a>`, 413],
    ['two megabytes', `<a>${'x'.repeat(2_000_000)}</a>`, 413],
    ['an unbound prefix', '<x:a/>', 400],
    ['a prefix bound to nothing', '<D:propfind xmlns:D="DAV:"><D:prop><b:c xmlns:b=""/></D:prop></D:propfind>', 400],
    ['an unclosed element', '<D:propfind xmlns:D="DAV:">', 400],
    ['text', 'hello', 400],
    ['bytes that are no UTF-8', Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0xfe]), 400],
    ['another element', '<a/>', 400],
  ])('rejects %s', async (_, body, status) => {
    const rig = await openDavRig();
    for (const method of ['PROPFIND', 'PROPPATCH', 'LOCK']) {
      const reply = await rig.send(method, '/', { headers: { depth: '0' }, body });
      expect([method, reply.status]).toEqual([method, status]);
    }
    expect(rig.errors).toEqual([]);
  });

  test.each([
    ['GET', '/#a', 400],
    ['BREW', '/', 400],
    ['TRACE', '/', 405],
    ['POST', '/', 405],
  ])('answers %s %s with %i', async (method, path, status) => {
    const rig = await openDavRig();
    const line = await new Promise<string>((resolve) => {
      const socket = connect(rig.port, '127.0.0.1');
      socket.once('data', (data) => {
        resolve(String(data).split('\r\n', 1)[0] as string);
        socket.destroy();
      });
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${rig.authorization}\r\n\r\n`);
    });
    expect(line).toContain(` ${status} `);
  });

  test.each(['x', '-1', '2', '0,1'])('rejects the Depth %j', async (depth) => {
    const rig = await openDavRig();
    expect((await rig.send('PROPFIND', '/', { headers: { depth } })).status).toBe(400);
  });

  test('does not walk a whole tree, as the standard allows', async () => {
    const rig = await openDavRig();
    const reply = await rig.send('PROPFIND', '/', { headers: { depth: 'infinity' } });
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('propfind-finite-depth');
  });
});
