import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpService, type JobRequest } from '@sluice/client';
import { until } from '@sluice/client/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineError } from '../../src/engines/engine.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { SCOPE } from '../service-rig.ts';
import { API, openRawHttp, type RawHttp } from './raw-http.ts';

let http: RawHttp;
let engine: FakeEngine;
beforeAll(async () => {
  engine = Object.assign(new FakeEngine(), {
    checkJob({ name }: JobRequest) {
      if (name === 'forbidden') throw new EngineError('REJECTED', 'could not use that name');
    },
  });
  engine.features = ['read-only-mounts', 'image-digests', 'job-names', 'multi-node'];
  const engines = { fake: ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine()) };
  http = await openRawHttp({ engine: 'fake', engines, cores: 100 });
  expect((await post('/volumes?volumeID=vol', {})).status).toBe(200);
});
afterAll(() => http.close());

const post = (path: string, body: unknown) => http.send('POST', API + path, { body: JSON.stringify(body) });

async function create(id: string, label: unknown, mounts: Record<string, string> = MOUNTS) {
  const labels = label === undefined ? {} : { 'sluice-writable-mounts': label };
  return post(`/containers?containerID=${id}`, { instanceType: 'small', volumeMounts: mounts, labels });
}

const MOUNTS = { 'vol:in:dir': '/in', 'vol:out:dir': '/out/', 'vol:deep:dir': '/in/deep' };

async function readOnlyTargets(id: string): Promise<string[]> {
  await until('it is launched', async () => [...engine.launched.values()].some((it) => it.containerID === id));
  const { mounts } = engine.launchOf(id);
  return mounts.flatMap(({ target, readOnly }) => (readOnly ? [target] : []));
}

describe('features', () => {
  it('every instance type lists the features of its cluster, and none if there are none', async () => {
    const of = async (cluster: string) => {
      const reply = await http.send('GET', `/api/v1rc1/clusters/${cluster}/instanceTypes`);
      return (reply.json().instanceTypes as { features?: string[] }[]).map(({ features }) => features);
    };
    expect(await of('one')).toEqual([
      ['read-only-mounts', 'image-digests', 'job-names', 'multi-node'],
      ['read-only-mounts', 'image-digests', 'job-names', 'multi-node'],
    ]);
    expect(await of('two')).toEqual([undefined]);
  });
});

describe('label sluice-writable-mounts', () => {
  it('makes all mounts read-only that it does not list, however the mount point is written', async () => {
    expect((await create('some', JSON.stringify(['/out']))).status).toBe(200);
    expect(await readOnlyTargets('some')).toEqual(['/in', '/in/deep']);
    expect((await create('none', '[]')).status).toBe(200);
    expect(await readOnlyTargets('none')).toEqual(['/in', '/out', '/in/deep']);
    expect((await create('odd', JSON.stringify(['//in//deep/', '/out']))).status).toBe(200);
    expect(await readOnlyTargets('odd')).toEqual(['/in']);
  });

  it('is stored with the container, as every label', async () => {
    expect((await create('kept', '["/in"]')).json().labels).toEqual({ 'sluice-writable-mounts': '["/in"]' });
  });

  it('leaves all mounts writable if it is absent', async () => {
    expect((await create('all', undefined)).status).toBe(200);
    expect(await readOnlyTargets('all')).toEqual([]);
  });

  it.each(['', 'x', '"/out"', '{}', '[1]', '["/out"', '["/elsewhere"]', '["out"]', '[null]', '["/out/../in"]'])(
    'is rejected with the value %j',
    async (label) => {
      const reply = await create('bad', label);
      expect(reply.status).toBe(400);
      expect(reply.json().details).toEqual([{ reason: 'FIELD_INVALID', field: 'labels.sluice-writable-mounts' }]);
    },
  );
});

describe('label sluice-job', () => {
  const send = (id: string, label: string, { account = API, instanceType = 'small' } = {}) =>
    http.send('POST', `${account}/containers?containerID=${id}`, {
      body: JSON.stringify({ instanceType, labels: { 'sluice-job': label } }),
    });

  it('reaches the engine, and is stored as every label', async () => {
    const job = { name: 'variants/call/S1', comment: 'run=r1' };
    expect((await send('named', JSON.stringify(job))).json().labels).toEqual({ 'sluice-job': JSON.stringify(job) });
    await until('it is launched', async () => [...engine.launched.values()].some((it) => it.containerID === 'named'));
    expect(engine.launchOf('named').job).toEqual(job);
  });

  it.each(['', 'x', '[]', '{"name":""}', '{"name":7}', '{"names":"a"}', `{"name":"${'x'.repeat(4097)}"}`])(
    'is rejected with the value %j',
    async (label) => {
      const reply = await send('bad', label);
      expect(reply.status).toBe(400);
      expect(reply.json().details).toEqual([{ reason: 'FIELD_INVALID', field: 'labels.sluice-job' }]);
    },
  );

  it('is rejected with a field that the cluster does not announce', async () => {
    const reply = await send('bad', '{"docker":{"user":"1000"}}');
    expect([reply.status, reply.json()]).toMatchObject([400, { message: expect.stringContaining("has 'docker'") }]);
  });

  it('gives a container the size of its instance type once for each task', async () => {
    expect((await send('tasks', '{"tasks":{"nodes":2,"perNode":3}}')).status).toBe(200);
    await until('it is launched', async () => [...engine.launched.values()].some((it) => it.containerID === 'tasks'));
    const { limits } = engine.launchOf('tasks');
    expect((await send('one', '{}')).status).toBe(200);
    await until('it is launched', async () => [...engine.launched.values()].some((it) => it.containerID === 'one'));
    const one = engine.launchOf('one').limits;
    expect(limits).toEqual({ cores: 6 * one.cores, memoryBytes: 6 * one.memoryBytes, gpus: 0 });
    const reply = await send('large', '{"tasks":{"nodes":101,"perNode":1}}');
    expect([reply.status, reply.json()]).toMatchObject([
      400,
      {
        message: expect.stringMatching(/its 101 tasks need \d+ cores and cluster one has 100 in total/),
        details: [{ reason: 'INSTANCE_TYPE_TOO_LARGE' }],
      },
    ]);
  });

  it.each(['{"tasks":{}}', '{"tasks":{"nodes":0,"perNode":1}}', '{"tasks":{"nodes":1,"perNode":1001}}'])(
    'is rejected with the tasks %j',
    async (label) => expect((await send('bad', label)).status).toBe(400),
  );

  it('is rejected with the reason of the engine', async () => {
    const reply = await send('bad', '{"name":"forbidden"}');
    expect([reply.status, reply.json()]).toMatchObject([
      400,
      { message: 'could not use that name', details: [{ reason: 'FIELD_INVALID', field: 'labels.sluice-job' }] },
    ]);
  });

  it('is a label like any other where no engine announces its fields', async () => {
    const two = { account: '/api/v1rc1/clusters/two/accounts/mine', instanceType: 'other' };
    expect((await send('other', 'x', two)).json().labels).toEqual({ 'sluice-job': 'x' });
  });
});

describe('mount points in read-only mounts', () => {
  const at = (path: string) => join(http.rig.root, 'clusters/one/volumes/mine/vol', path);

  it('are created in the volume if they are missing, since no engine can create them', async () => {
    const mounts = {
      'vol:fan:dir': '/fan',
      'vol:a:dir': '/fan/a/b',
      'vol:f:file': '/fan/f',
      'vol:rw:dir': '/fan/a/b/c',
    };
    expect((await create('inner', '["/fan/a/b"]', mounts)).status).toBe(200);
    expect(statSync(at('fan/a/b')).isDirectory()).toBe(true);
    expect(statSync(at('fan/f')).isFile()).toBe(true);
    // The engine creates it there, as in every writable mount.
    expect(existsSync(at('a/c'))).toBe(false);
    expect((await create('again', '[]', mounts)).status).toBe(200);
    expect(existsSync(at('a/c'))).toBe(true);
  });

  it('may be behind a link that stays in the volume, but not behind one that leaves it', async () => {
    mkdirSync(at('linked/real/point'), { recursive: true });
    symlinkSync('real', at('linked/near'));
    symlinkSync('/tmp', at('linked/far'));
    const mount = (point: string) => ({ 'vol:linked': '/in', 'vol:in:dir': `/in/${point}` });
    expect((await create('near', '[]', mount('near/point'))).status).toBe(200);
    for (const point of ['far/point', 'near/new']) {
      const reply = await create('far', '[]', mount(point));
      expect([reply.status, (reply.json().details as object[])[0]]).toMatchObject([400, { reason: 'MOUNT_INVALID' }]);
    }
    expect(existsSync('/tmp/point')).toBe(false);
  });

  it('are rejected if a file of another kind exists there', async () => {
    writeFileSync(at('in/file'), '');
    const reply = await create('kind', '[]', { 'vol:in': '/in', 'vol:deep:dir': '/in/file' });
    expect(reply.json().message).toContain("where 'in/file' is no dir");
  });
});

describe('ten thousand mounts', () => {
  const manyOf = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`vol:runs/2026/outputs/x/${i}:dir`, `/in/x/${i}`] as const),
    );

  it('are accepted, reach the engine and are listed; one more is rejected', async () => {
    expect((await create('many', JSON.stringify(['/in/x/7']), manyOf(10_000))).status).toBe(200);
    expect(await readOnlyTargets('many')).toHaveLength(9_999);
    const got = (await http.send('GET', `${API}/containers/many`)).json();
    expect(Object.keys(got.volumeMounts as object)).toHaveLength(10_000);
    const rejected = await create('more', '[]', manyOf(10_001));
    expect([rejected.status, rejected.json().message]).toEqual([400, expect.stringContaining('at most 10000 entries')]);
  });
});

describe('endpoint images', () => {
  const ask = (query: string) => http.send('GET', `${API}/images${query}`);

  it('returns the digest that the engine reports, and nothing if it reports none', async () => {
    engine.digests.set('registry.example.org/a/b:1', 'sha256:abc');
    const found = await ask(`?image=${encodeURIComponent('registry.example.org/a/b:1')}`);
    expect([found.status, found.json()]).toEqual([200, { digest: 'sha256:abc' }]);
    const unknown = await ask('?image=other');
    expect([unknown.status, unknown.json()]).toEqual([200, {}]);
    const service = createHttpService({ baseUrl: http.url, token: http.token });
    expect(await service.discovery.resolveImage?.(SCOPE, 'registry.example.org/a/b:1')).toEqual({
      digest: 'sha256:abc',
    });
    expect(await service.discovery.resolveImage?.(SCOPE, 'other')).toBeUndefined();
    await service.close();
  });

  it.each(['', '?image=', `?image=${'x'.repeat(1025)}`, '?picture=x'])('rejects the query %s', async (query) => {
    expect((await ask(query)).status).toBe(400);
  });

  it('requires an account of the user', async () => {
    const foreign = await http.send('GET', '/api/v1rc1/clusters/three/accounts/yours/images?image=x');
    expect(foreign.status).toBe(403);
    const wildcard = await http.send('GET', '/api/v1rc1/clusters/-/accounts/mine/images?image=x');
    expect(wildcard.status).toBe(400);
  });

  it('passes on that the registry is to be asked', async () => {
    const { resolveImage } = engine;
    const service = createHttpService({ baseUrl: http.url, token: http.token });
    engine.resolveImage = async (_, query) => `fresh=${query?.fresh}`;
    expect(await service.discovery.resolveImage?.(SCOPE, 'x', { fresh: true })).toEqual({ digest: 'fresh=true' });
    expect(await service.discovery.resolveImage?.(SCOPE, 'x')).toEqual({ digest: 'fresh=undefined' });
    engine.resolveImage = resolveImage;
    await service.close();
  });

  it('reports why the engine cannot resolve the image', async () => {
    const { resolveImage } = engine;
    engine.resolveImage = async (image) => {
      throw new EngineError(image === 'A b' ? 'REJECTED' : 'UNAVAILABLE', 'no such thing');
    };
    expect((await ask('?image=A%20b')).status).toBe(400);
    const away = await ask('?image=x');
    expect(away.status).toBe(503);
    expect(away.headers['retry-after'] ?? null).toBeNull();
    engine.resolveImage = resolveImage;
  });
});
