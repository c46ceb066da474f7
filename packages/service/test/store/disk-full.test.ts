import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { API, openRawHttp, type RawHttp } from '../api/raw-http.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { mountSmallDisk } from './small-disk.ts';

/** Undefined without permission to mount one; the tests are then skipped. */
const disk = mountSmallDisk('12m');
let http: RawHttp;
let engine: FakeEngine;
beforeAll(async () => {
  if (disk === undefined) return;
  engine = new FakeEngine();
  const engines = { fake: ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine()) };
  http = await openRawHttp({ parent: disk.path, engine: 'fake', engines, cores: 1000 });
});
afterEach(() => disk?.empty());
afterAll(async () => {
  await http?.close();
  disk?.unmount();
});

const labels = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`l${i}`, 'x'.repeat(4000)]));
const create = (id: string, spec: object = {}) =>
  http.send('POST', `${API}/containers?containerID=${id}`, {
    body: JSON.stringify({ instanceType: 'small', image: 'x', ...spec }),
  });
const get = async (id: string) => (await http.send('GET', `${API}/containers/${id}`)).json();
const ids = async () => {
  const { containers } = (await http.send('GET', `${API}/containers?all=true`)).json();
  return (containers as { id: string }[]).map(({ id }) => id);
};

describe.skipIf(disk === undefined && process.env.CI !== 'true')('a full disk', () => {
  it('rejects new resources with 507, keeps existing ones, and recovers when space is free', async () => {
    for (const id of ['kept', 'ended', 'ending']) expect((await create(id)).status).toBe(200);
    await expect.poll(() => engine.launched.size).toBe(3);
    for (const id of ['kept', 'ended', 'ending']) engine.run(id);
    disk?.fill();

    const made: string[] = [];
    let rejected = await create('big-0', { labels });
    for (let i = 1; rejected.status === 200; i++) {
      made.push(`big-${i - 1}`);
      rejected = await create(`big-${i}`, { labels });
    }
    const last = `big-${made.length}`;
    expect(rejected.json()).toMatchObject({ code: 507, status: 'UNAVAILABLE', details: [{ reason: 'STORE_FULL' }] });
    expect(rejected.headers['retry-after']).toBe('5');
    expect((await get(last)).code).toBe(404);
    expect(await ids()).toEqual(['kept', 'ended', 'ending', ...made]);

    // An end is recorded, since the store holds space for it. Something else takes the rest of that.
    engine.end('ended');
    await expect.poll(async () => (await get('ended')).phase).toBe('Succeeded');
    disk?.fill();

    // An end in the same transaction as a rejected change is not lost, and is reported only when it is durable.
    engine.end('ending');
    const more = await Promise.all([create(last, { labels }), create('twin', { labels })]);
    expect(more.map(({ status }) => status)).toEqual([507, 507]);
    expect((await get('ending')).phase).toBe('Running');
    expect((await http.send('POST', `${API}/volumes?volumeID=v`, { body: '{}' })).status).toBe(507);
    expect((await http.send('POST', `${API}/containers/kept:cancel`)).status).toBe(507);
    expect(engine.stopped).toHaveLength(1);

    disk?.empty();
    await expect.poll(async () => (await create(last, { labels })).status).toBe(200);
    await expect.poll(() => engine.launched.size).toBe(4 + made.length);
    await expect.poll(async () => (await get('ending')).phase).toBe('Succeeded');
    const expected = ['kept', 'ended', 'ending', ...made, last];
    expect(await ids()).toEqual(expected);
    expect((await http.send('GET', `${API}/volumes`)).json()).toMatchObject({ volumes: [] });
    await http.rig.restart();
    const listed = http.rig.service.inProcess({ userId: 'u', accounts: [{ clusterID: 'one', accountID: 'mine' }] });
    const found: unknown[] = [];
    for await (const { id, phase } of listed.containers.list({ clusterID: 'one', accountID: 'mine' }, { all: true })) {
      found.push([id, phase]);
    }
    const phaseOf = (id: string) => ({ kept: 'Canceled', ended: 'Succeeded', ending: 'Succeeded' })[id] ?? 'Pending';
    expect(found).toEqual(expected.map((id) => [id, phaseOf(id)]));
    expect(readdirSync(join(http.rig.root, 'clusters/one/containers'))).toHaveLength(expected.length);
  });
});
