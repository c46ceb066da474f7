import { afterEach, describe, expect, it } from 'vitest';
import { API, openRawHttp, type RawHttp } from '../api/raw-http.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { mountSmallDisk, type SmallDisk } from '../store/small-disk.ts';

/** Only root can mount one; the tests are skipped for others. */
const isPossible = process.geteuid?.() === 0 || process.env.CI === 'true';

describe.skipIf(!isPossible)('a storage with few free inodes', () => {
  const engine = new FakeEngine();
  let disk: SmallDisk;
  let http: RawHttp;
  afterEach(async () => {
    await http.close();
    disk.unmount();
  });

  async function open(inodes: number): Promise<void> {
    disk = mountSmallDisk(`12m,nr_inodes=${inodes}`)!;
    const fake = ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine());
    http = await openRawHttp({ parent: disk.path, engine: 'fake', engines: { fake } });
  }

  const create = (id: string) =>
    http.send('POST', `${API}/containers?containerID=${id}`, {
      body: JSON.stringify({ instanceType: 'small', image: 'x' }),
    });
  const createVolume = (id: string) => http.send('POST', `${API}/volumes?volumeID=${id}`, { body: '{}' });
  const phaseOf = async (id: string) => (await http.send('GET', `${API}/containers/${id}`)).json().phase;
  const ready = async () => {
    const { status, json } = await http.send('GET', '/readyz');
    return { status, ...json() };
  };
  const metrics = async () => (await http.send('GET', '/metrics')).text;

  it('creates nothing there, says so, ends and removes what there is, and recovers by itself', async () => {
    await open(1500);
    for (const id of ['ending', 'canceled']) expect((await create(id)).status).toBe(200);
    await expect.poll(() => engine.launched.size).toBe(2);
    for (const id of ['ending', 'canceled']) engine.run(id);
    expect((await createVolume('v')).status).toBe(200);
    expect(await ready()).toMatchObject({ status: 200, storages: { one: 'ready' } });

    disk.fillInodes(999);
    expect(await metrics()).toContain('sluice_storage_inodes_free{cluster="one"} 999\n');
    for (const rejected of [await create('late'), await createVolume('w')]) {
      expect(rejected.json()).toMatchObject({
        ...{ code: 507, status: 'UNAVAILABLE', details: [{ reason: 'STORE_FULL' }] },
        message: expect.stringContaining('only 999 free inodes, and 1000 are reserved'),
      });
    }
    expect(await ready()).toMatchObject({
      ...{ status: 503, ready: false, store: 'its disk has too few free inodes' },
      storages: { one: 'has too few free inodes' },
    });
    engine.end('ending');
    await expect.poll(() => phaseOf('ending')).toBe('Succeeded');
    expect((await http.send('POST', `${API}/containers/canceled:cancel`)).status).toBe(204);
    expect((await http.send('DELETE', `${API}/volumes/v?force=true`)).status).toBe(204);
    expect((await http.send('DELETE', `${API}/containers/ending`)).status).toBe(204);

    disk.empty();
    expect((await create('late')).status).toBe(200);
    expect(await ready()).toMatchObject({ status: 200, ready: true });
  });

  it('has no limit where the file system reports none', async () => {
    await open(0);
    expect((await create('c')).status).toBe(200);
    expect(await ready()).toMatchObject({ status: 200, storages: { one: 'ready' } });
    expect(await metrics()).not.toContain('sluice_storage_inodes_free{');
  });
});
