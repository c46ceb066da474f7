import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { shellSpec } from '@sluice/client/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ServiceConfigInput, serviceConfigSchema } from '../../src/config/service-config.ts';
import { API, openRawHttp, type RawHttp } from '../api/raw-http.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';

type Cluster = ServiceConfigInput['clusters'][number];
const CLUSTER: Cluster = {
  id: 'one',
  engine: 'fake',
  accounts: ['mine', 'other'],
  instanceTypes: [
    { id: 'small', cpu: 1, memory: '1GB' },
    { id: 'big', cpu: 4, memory: '4GB' },
    { id: 'huge', cpu: 8, memory: '8GB' },
  ],
  quota: {
    containers: 100,
    cpu: 100,
    volumes: '100GB',
    accounts: { mine: { containers: 3, cpu: 6, volumes: '1GiB' } },
  },
};

describe('quota', () => {
  let http: RawHttp;
  let engine: FakeEngine;
  beforeEach(async () => {
    engine = new FakeEngine();
    http = await openRawHttp({ engine: 'fake', engines: { fake: () => engine }, config: { clusters: [CLUSTER] } });
  });
  afterEach(() => http.close());
  const create = (id: string, instanceType: string, volumeMounts = {}) =>
    http.send('POST', `${API}/containers?containerID=${id}`, {
      body: JSON.stringify({ ...shellSpec(instanceType, { end: 0 }), volumeMounts }),
    });
  const exceeded = (limit: string, amounts: object) => ({
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: expect.stringContaining(`quota of`),
    details: [{ reason: 'QUOTA_EXCEEDED', limit: `quota.${limit}`, ...amounts }],
  });

  it('rejects a container beyond the limit, and accepts it after another has ended', async () => {
    for (const id of ['a', 'b', 'c']) expect((await create(id, 'small')).status).toBe(200);
    expect((await create('d', 'small')).json()).toMatchObject(
      exceeded('containers', { maximum: 3, used: 3, wanted: 1 }),
    );
    await expect.poll(() => engine.launched.size).toBe(3);
    engine.run('a');
    engine.end('a');
    await expect.poll(async () => (await create('d', 'small')).status).toBe(200);
  });

  it('counts the cores of concurrent creates too, and rejects an instance type that can never fit', async () => {
    const replies = await Promise.all([create('a', 'big'), create('b', 'big')]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 429]);
    const rejected = replies.find(({ status }) => status === 429);
    expect(rejected?.json()).toMatchObject(exceeded('cpu', { maximum: 6, used: 4, wanted: 4 }));
    expect((await create('c', 'huge')).json()).toMatchObject({
      code: 400,
      details: [{ reason: 'INSTANCE_TYPE_TOO_LARGE', field: 'instanceType', limit: 'quota.cpu' }],
    });
    const metrics = (await http.send('GET', '/metrics')).text;
    expect(metrics).toContain('sluice_account_containers{cluster="one",account="mine"} 1\n');
    expect(metrics).toContain('sluice_account_cores{cluster="one",account="mine"} 4\n');
    expect(metrics).toContain('sluice_account_quota{cluster="one",account="mine",limit="cpu"} 6\n');
    expect(metrics).toContain('sluice_account_quota{cluster="one",account="other",limit="cpu"} 100\n');
  });

  it('rejects volumes, containers with volumes and uploads when the stored bytes are used up', async () => {
    const made = await http.send('POST', `${API}/volumes?volumeID=v`, { body: '{"service":{}}' });
    expect(made.status).toBe(200);
    const { service } = made.json() as { service: { username: string; password: string; address: { webdav: string } } };
    const login = Buffer.from(`${service.username}:${service.password}`).toString('base64');
    const upload = async (bytes: number) => {
      const path = new URL('file', service.address.webdav).pathname;
      const headers = { authorization: `Basic ${login}`, 'content-length': String(bytes) };
      return (await http.send('PUT', path, { headers, body: Buffer.alloc(bytes) })).status;
    };
    expect(await upload(1000)).toBe(201);
    // As if written by a container; the next measurement includes it.
    const large = join(http.rig.root, 'clusters/one/volumes/mine/v/large');
    expect(spawnSync('fallocate', ['-l', '1G', large]).status).toBe(0);
    await http.rig.restart();
    const again = http.rig.service;
    const listener = await again.listen({ host: '127.0.0.1', port: 0 });
    const send = (path: string, init: RequestInit) =>
      fetch(listener.url + path, { ...init, headers: { authorization: `Bearer ${http.token}`, ...init.headers } });
    const json = { 'content-type': 'application/json' };
    const rejected = await send(`${API}/volumes?volumeID=w`, { method: 'POST', body: '{}', headers: json });
    expect(await rejected.json()).toMatchObject(exceeded('volumes', { maximum: 1024 ** 3, wanted: 0 }));
    const body = JSON.stringify({ ...shellSpec('small', { end: 0 }), volumeMounts: { v: '/v' } });
    const container = await send(`${API}/containers`, { method: 'POST', body, headers: json });
    expect(await container.json()).toMatchObject(exceeded('volumes', {}));
    const without = JSON.stringify(shellSpec('small', { end: 0 }));
    expect((await send(`${API}/containers`, { method: 'POST', body: without, headers: json })).status).toBe(200);
    const path = new URL('other', service.address.webdav).pathname;
    const put = await send(path, { method: 'PUT', body: 'more', headers: { authorization: `Basic ${login}` } });
    expect(put.status).toBe(507);
    expect(await put.text()).toContain('quota');
    const kept = await send(new URL('file', service.address.webdav).pathname, {
      headers: { authorization: `Basic ${login}` },
    });
    expect((await kept.arrayBuffer()).byteLength).toBe(1000);
  });

  it('rejects a configuration with an unknown account or an invalid number', () => {
    const parse = (quota: object) =>
      serviceConfigSchema
        .safeParse({ root: '/r', clusters: [{ ...CLUSTER, quota }] })
        .error?.issues.map(({ path, message }) => [path.join('.'), message]);
    expect(parse({ accounts: { nobody: { cpu: 1 } } })).toEqual([
      ['clusters.0.quota.accounts.nobody', "the cluster has no account 'nobody'"],
    ]);
    expect(parse({ cpu: 0 })?.[0]?.[0]).toBe('clusters.0.quota.cpu');
    expect(parse({ core: 1 })?.[0]?.[0]).toBe('clusters.0.quota');
    expect(parse({ volumes: '5GB' })).toBeUndefined();
    for (const volumes of [5, '5', '0GB', '5 GB', '5gb']) {
      expect(parse({ volumes })).toEqual([
        ['clusters.0.quota.volumes', 'must be a size with a unit, for example 64MB or 500GiB'],
      ]);
    }
  });
});
