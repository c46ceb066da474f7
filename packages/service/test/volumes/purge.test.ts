import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbStore } from '../../src/store/lmdb-store.ts';
import { put, remove as removeRow } from '../../src/store/store.ts';
import { idKey, TABLES } from '../../src/store/tables.ts';
import type { VolumeRow } from '../../src/store/volume-row.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, type Rig, SCOPE } from '../service-rig.ts';

const DAY_MS = 86_400_000;

let rig: Rig;
let engine: FakeEngine;
beforeEach(async () => {
  engine = new FakeEngine();
  const fake = ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine());
  rig = await openRig({ engine: 'fake', cores: 1, engines: { fake } });
});
afterEach(() => rig.close());

const volumes = () => rig.service.inProcess(PRINCIPAL).volumes;
const create = (volumeID: string) => volumes().create(SCOPE, { volumeID });
const remove = (id: string, force = false) => volumes().delete({ ...SCOPE, id }, { force });
const storage = (...path: string[]) => join(rig.root, 'clusters/one', ...path);
async function listed(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id, phase } of volumes().list(SCOPE)) ids.push(`${id} ${phase}`);
  return ids;
}

/** A directory is where the file of a volume's properties would be: its purge fails once its files have gone. */
const spoil = (id: string) => mkdirSync(storage('properties/mine', id));
const mend = (id: string) => rmSync(storage('properties/mine', id), { recursive: true });

const undelete = (id: string) => volumes().undelete({ ...SCOPE, id });
const containers = () => rig.service.inProcess(PRINCIPAL).containers;
const createContainer = (containerID: string, volumeMounts: Record<string, string>) =>
  containers().create(SCOPE, { instanceType: 'small', command: ['x'], volumeMounts }, { containerID });
const reaches = (id: string, phase: string) =>
  until(`${id} is ${phase}`, async () => (await containers().get({ ...SCOPE, id })).phase === phase);
const launched = (id: string) =>
  until(`${id} is launched`, async () => [...engine.launched.values()].some(({ containerID }) => containerID === id));

describe('a purge', () => {
  it('that failed half-way is ended after a restart, and then the ID is free', async () => {
    await create('a');
    spoil('a');
    await expect(remove('a', true)).rejects.toThrow();
    expect(await listed()).toEqual(['a Deleted']);
    mend('a');
    await rig.restart();
    await until('it is gone', async () => (await listed()).length === 0);
    await create('a');
    expect(await listed()).toEqual(['a Available']);
  });

  it('that fails holds up no other, and is tried again without haste', async () => {
    for (const id of ['a', 'b']) {
      await create(id);
      await remove(id);
    }
    spoil('a');
    await rig.clock.advance(8 * DAY_MS);
    expect(await listed()).toEqual(['a Deleted']);
    mend('a');
    await rig.clock.advance(600_000);
    expect(await listed()).toEqual([]);
  });

  it('waits for the storage of the cluster, and leaves no files behind once that is back', async () => {
    await create('a');
    await remove('a');
    renameSync(storage(), storage('../away'));
    await rig.clock.advance(8 * DAY_MS);
    expect(await listed()).toEqual(['a Deleting']);
    expect(existsSync(storage())).toBe(false);
    renameSync(storage('../away'), storage());
    await rig.clock.advance(600_000);
    expect(await listed()).toEqual([]);
    expect(existsSync(storage('volumes/mine/a'))).toBe(false);
  });

  it('spares each of 60 due volumes that is undeleted while others are purged', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `v-${String(i).padStart(2, '0')}`);
    for (const id of ids) {
      await create(id);
      writeFileSync(storage('volumes/mine', id, 'file'), id);
      await remove(id);
    }
    const closing = rig.clock.now();
    await rig.restart();
    expect((await listed()).length).toBe(60);
    const swept = rig.clock.advance(closing + 8 * DAY_MS - rig.clock.now());
    const kept: string[] = [];
    for (const id of ids.toReversed()) {
      await undelete(id).then(
        () => kept.push(id),
        (error: unknown) => expect(error).toMatchObject({ code: 'NOT_FOUND' }),
      );
    }
    await swept;
    await rig.clock.advance(600_000);
    expect(kept.length).toBeGreaterThan(0);
    expect(await listed()).toEqual(kept.toReversed().map((id) => `${id} Available`));
    for (const id of kept) expect(readFileSync(storage('volumes/mine', id, 'file'), 'utf8')).toBe(id);
  });

  it('spares a volume that live containers mount, also one that is queued, until they have ended', async () => {
    await create('a');
    await createContainer('runs', { a: '/a' });
    await launched('runs');
    engine.run('runs');
    await createContainer('waits', { a: '/a' });
    await remove('a');
    await rig.clock.advance(8 * DAY_MS);
    expect(await listed()).toEqual(['a Deleting']);
    expect(existsSync(storage('volumes/mine/a'))).toBe(true);
    await expect(create('a')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(remove('a', true)).rejects.toMatchObject({ reason: 'VOLUME_MOUNTED' });
    engine.end('runs');
    await launched('waits');
    await rig.clock.advance(600_000);
    expect(await listed()).toEqual(['a Deleting']);
    engine.run('waits');
    engine.end('waits');
    await reaches('waits', 'Succeeded');
    await rig.clock.advance(600_000);
    expect(await listed()).toEqual([]);
    expect(existsSync(storage('volumes/mine/a'))).toBe(false);
  });

  it('of a cluster that is missing is completed once that is back in the configuration', async () => {
    await create('a');
    await remove('a');
    const { clusters } = rig.config;
    (rig.config as { clusters: typeof clusters }).clusters = clusters.slice(1);
    await rig.restart();
    await rig.clock.advance(8 * DAY_MS);
    await rig.service.reload({ ...rig.config, clusters });
    expect(await listed()).toEqual(['a Deleting']);
    await rig.clock.advance(600_000);
    expect(await listed()).toEqual([]);
    expect(existsSync(storage('volumes/mine/a'))).toBe(false);
  });

  it('that is requested several times at once removes one volume, and none that is created under its ID', async () => {
    for (let round = 0; round < 20; round++) {
      await create('a');
      let isOver = false;
      const made = (async () => {
        while (!isOver) {
          await create('a').catch(() => {});
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      await Promise.allSettled([remove('a', true), remove('a', true), remove('a'), remove('a', true)]);
      isOver = true;
      await made;
      const [left] = await listed();
      if (left === 'a Available') expect(existsSync(storage('volumes/mine/a'))).toBe(true);
      await remove('a', true).catch(() => {});
    }
  });
});

it('a queued container does not start with another volume that has the ID of the one that it mounts', async () => {
  await create('a');
  await createContainer('runs', {});
  await launched('runs');
  await createContainer('waits', { a: '/a' });
  await rig.service.close();
  const store = openLmdbStore(join(rig.root, 'store'), Object.values(TABLES));
  const [[key, row]] = [...store.range(TABLES.volumes, { from: '', to: '~' })] as [[string, VolumeRow]];
  // As after a change by another program, since a purge removes no mounted volume.
  await store.commit([removeRow(TABLES.volumes, key), put(TABLES.volumes, `${key}0`, row)]);
  await store.commit([put(TABLES.volumeIDs, idKey(row), `${key}0`)]);
  await store.close();
  await rig.restart();
  engine.run('runs');
  engine.end('runs');
  await reaches('waits', 'Failed');
  const { state } = await containers().get({ ...SCOPE, id: 'waits' });
  expect(state).toBe("could not mount the volume 'a' because it was deleted");
  expect([...engine.launched.values()].map(({ containerID }) => containerID)).toEqual(['runs']);
});
