import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { End } from '../../src/engines/engine.ts';
import { API, openRawHttp, type RawHttp } from '../api/raw-http.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { mountSmallDisk, type SmallDisk } from '../store/small-disk.ts';

/** Only root can mount one; the tests are skipped for others. */
const isPossible = process.geteuid?.() === 0 || process.env.CI === 'true';

describe.skipIf(!isPossible)('a container that ends while its storage', () => {
  const engine = new FakeEngine();
  let disk: SmallDisk;
  let http: RawHttp;
  beforeAll(async () => {
    disk = mountSmallDisk('24m,nr_inodes=2000')!;
    const fake = ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine());
    http = await openRawHttp({ parent: disk.path, engine: 'fake', engines: { fake } });
  });
  afterAll(async () => {
    await http.close();
    disk.unmount();
  });

  const read = async (id: string) => (await http.send('GET', `${API}/containers/${id}`)).json();

  async function endOn(fill: () => void, end: End): Promise<Record<string, unknown>> {
    const id = `c${engine.asked.length}`;
    const body = JSON.stringify({ instanceType: 'small', image: 'x' });
    expect((await http.send('POST', `${API}/containers?containerID=${id}`, { body })).status).toBe(200);
    await expect.poll(() => [...engine.launched.values()].some(({ containerID }) => containerID === id)).toBe(true);
    engine.run(id);
    fill();
    engine.end(id, end);
    try {
      await expect.poll(async () => (await read(id)).endTime).toBeDefined();
    } finally {
      disk.empty();
    }
    return await read(id);
  }

  // Enough for the store to record the end.
  const fillBytes = () => disk.fill(1_800_000);
  // A home has released 65, before the disk is looked at.
  const fillInodes = () => disk.fillInodes(80);

  it.each<[string, () => void, End, string]>([
    ['has no bytes', fillBytes, { kind: 'exited', exitCode: 1 }, 'the disk of the service is full (exit code 1)'],
    ['has no inodes', fillInodes, { kind: 'exited', exitCode: 1 }, 'the disk of the service is full (exit code 1)'],
    [
      'has no bytes for a mapped file',
      fillBytes,
      { kind: 'exited', exitCode: 135, signal: 'SIGBUS' },
      'the disk of the service is full (exit code 135: killed by SIGBUS)',
    ],
    ['has 4 MB', () => disk.fill(4_000_000), { kind: 'exited', exitCode: 1 }, 'exit code 1'],
    ['has no bytes, though it has succeeded', fillBytes, { kind: 'exited', exitCode: 0 }, 'exit code 0'],
    [
      'has no bytes, for lack of memory',
      fillBytes,
      { kind: 'exited', exitCode: 137, outOfMemory: true },
      'out of memory (exit code 137)',
    ],
  ])('%s', async (_, fill, end, state) => {
    expect(await endOn(fill, end)).toMatchObject({ state });
  });
});
