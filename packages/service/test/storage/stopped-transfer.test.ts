import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { API, openRawHttp, type RawHttp } from '../api/raw-http.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { PRINCIPAL, SCOPE } from '../service-rig.ts';
import { temporaryDirectory } from '../volumes/temporary-directory.ts';
import { canHang } from './hung-mount.ts';
import { mountPassthrough, type PassthroughMount } from './passthrough-mount.ts';

const TWO = API.replace('/one/', '/two/');
/** More than a process has threads for files. */
const MANY = 8;
const LARGE = Buffer.alloc(300_000, 'x');
const isPossible = canHang();
if (!isPossible && process.env.CI === 'true')
  throw new Error('could not test a storage that stops: it needs root, /dev/fuse and python3');

interface Login {
  readonly path: string;
  readonly headers: { readonly authorization: string };
}

describe.skipIf(!isPossible)('a storage that stops during a transfer holds up no other cluster', () => {
  let http: RawHttp;
  let mount: PassthroughMount;
  let files: string;
  let one: Login;
  let two: Login;
  beforeEach(async () => {
    http = await openRawHttp({ engine: 'fake', engines: { fake: () => new FakeEngine() } });
    const storage = join(http.rig.root, 'clusters/one');
    const backing = temporaryDirectory();
    cpSync(storage, backing, { recursive: true });
    mount = await mountPassthrough(backing, storage);
    files = join(backing, 'volumes/mine/v');
    [one, two] = [await createVolume(API), await createVolume(TWO)];
  });
  afterEach(async () => {
    await mount.unmount();
    await http.close();
  });

  const createVolume = async (api: string): Promise<Login> => {
    const reply = await http.send('POST', `${api}/volumes?volumeID=v`, { body: '{"service":{}}' });
    const { service } = reply.json() as {
      service: { username: string; password: string; address: { webdav: string } };
    };
    const authorization = `Basic ${Buffer.from(`${service.username}:${service.password}`).toString('base64')}`;
    return { path: new URL(service.address.webdav).pathname, headers: { authorization } };
  };
  const send = async (method: 'GET' | 'PUT', { path, headers }: Login, name: string, body?: Buffer) =>
    (await http.send(method, path + name, { headers, ...(body && { body }) })).status;
  const incomplete = () => readdirSync(files).filter((name) => name.startsWith('.sluice-tmp-'));
  const otherCluster = async () => {
    expect((await send('PUT', two, 'file', LARGE)) < 300).toBe(true);
    expect(await send('GET', two, 'file')).toBe(200);
  };

  it.each([
    ['are written', 'WRITE', LARGE],
    ['are written in one call', 'WRITE', Buffer.from('small')],
    ['are closed', 'FLUSH', LARGE],
  ] as const)('while uploads %s', async (_, kind, body) => {
    await mount.hold(kind);
    const uploads = Array.from({ length: MANY }, (_, i) => send('PUT', one, `f${i}`, body));
    await expect.poll(incomplete).toHaveLength(MANY);
    await expect.poll(() => mount.held()).toBeGreaterThan(0);
    await otherCluster();
    await mount.answer();
    expect(new Set(await Promise.all(uploads))).toEqual(new Set([201]));
    expect(readdirSync(files)).toHaveLength(MANY);
  });

  it('while files are downloaded', async () => {
    writeFileSync(join(files, 'file'), LARGE);
    await mount.hold('READ');
    const downloads = Array.from({ length: MANY }, () => send('GET', one, 'file'));
    await expect.poll(() => mount.held()).toBeGreaterThan(0);
    await otherCluster();
    await mount.answer();
    expect(new Set(await Promise.all(downloads))).toEqual(new Set([200]));
  });

  it('between the beginning and the end of an upload, which then fails', async () => {
    const upload = httpRequest(`${http.url}${one.path}file`, {
      method: 'PUT',
      headers: { ...one.headers, 'content-length': '10' },
    });
    const status = new Promise((resolve) => upload.once('response', (reply) => resolve(reply.statusCode)));
    upload.write('begin');
    await expect.poll(incomplete).toHaveLength(1);
    await mount.hold('STATFS', 'LOOKUP');
    upload.end('ended');
    await otherCluster();
    expect(await status).toBe(503);
    await otherCluster();
  });

  it('before a process uses its files without HTTP', async () => {
    const service = http.rig.service.inProcess(PRINCIPAL);
    const { service: login } = await service.volumes.create(SCOPE, { volumeID: 'w', transfer: true });
    const opened = service.volumes.files({ ...SCOPE, id: 'w' }, login!);
    await opened.write('file', Buffer.from('content'));
    await mount.hold();
    for (const use of [opened.stat('file'), opened.write('other', LARGE)]) {
      await expect(use).rejects.toMatchObject({ message: expect.stringContaining('does not answer') });
    }
    await otherCluster();
  });
});
