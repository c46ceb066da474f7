import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLmdbStore } from '../../src/store/lmdb-store.ts';
import type { Store } from '../../src/store/store.ts';
import { idKey, TABLES } from '../../src/store/tables.ts';
import { SCOPE } from '../service-rig.ts';
import {
  create,
  engine,
  get,
  launched,
  openContainerRig,
  reaches,
  ref,
  restart,
  rig,
  service,
} from './container-rig.ts';

openContainerRig();

describe('retention', () => {
  const DAY = 86_400_000;
  const HOUR = 3_600_000;

  it('removes the record, the directory and the reservation of the ID', async () => {
    await create('a');
    await launched('a');
    engine.end('a', undefined, rig.clock.now());
    await reaches('a', 'Succeeded');
    const containers = join(rig.root, 'clusters/one/containers');
    expect(readdirSync(containers)).toHaveLength(1);
    await rig.clock.advance(7 * DAY - 1);
    await expect(create('a')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await rig.clock.advance(601_000);
    await expect(get('a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(readdirSync(containers)).toHaveLength(0);
    await create('a');
  });

  it('removes a deleted volume, which undelete restores until then', async () => {
    const volume = { ...SCOPE, id: 'v' };
    await service.volumes.create(SCOPE, { volumeID: 'v' });
    await service.volumes.delete(volume);
    await rig.clock.advance(6 * DAY);
    await service.volumes.undelete(volume);
    // Repeated, as after a lost reply.
    await service.volumes.undelete(volume);
    await service.volumes.delete(volume);
    await rig.clock.advance(6 * DAY);
    await service.volumes.undelete(volume);
    await service.volumes.delete(volume);
    await rig.clock.advance(8 * DAY);
    await expect(service.volumes.undelete(volume)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(existsSync(join(rig.root, 'clusters/one/volumes/mine/v'))).toBe(false);
    await service.volumes.create(SCOPE, { volumeID: 'v' });
  });

  it.each<[string, () => Promise<void>]>([
    ['at a restart', restart],
    ['while it runs', () => rig.clock.advance(600_000)],
  ])('removes nothing because the clock is set years ahead %s, until that was steady for a day', async (_, act) => {
    await create('a');
    await launched('a');
    engine.end('a', undefined, rig.clock.now());
    await reaches('a', 'Succeeded');
    await service.volumes.create(SCOPE, { volumeID: 'v' });
    await service.volumes.delete({ ...SCOPE, id: 'v' });
    const volume = join(rig.root, 'clusters/one/volumes/mine/v');
    rig.clock.jump(10 * 365 * DAY);
    await act();
    await rig.clock.advance(23 * HOUR);
    await expect(get('a')).resolves.toMatchObject({ phase: 'Succeeded' });
    expect(existsSync(volume)).toBe(true);
    await rig.clock.advance(2 * HOUR);
    await expect.poll(() => existsSync(volume)).toBe(false);
    await expect(get('a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('concurrent deletions', () => {
  it.each<[string, () => Promise<void>, () => boolean]>([
    [
      'a container',
      () => service.containers.delete(ref('a')),
      () => onDisk.get(TABLES.containerIDs, idKey(ref('a'))) === undefined,
    ],
    [
      'a volume, by force',
      () => service.volumes.delete(ref('a'), { force: true }),
      () => onDisk.get(TABLES.volumes, onDisk.get(TABLES.volumeIDs, idKey(ref('a'))) ?? '')?.phase !== 'Available',
    ],
    [
      'a volume',
      () => service.volumes.delete(ref('a')),
      () => onDisk.get(TABLES.volumes, onDisk.get(TABLES.volumeIDs, idKey(ref('a'))) ?? '')?.phase === 'Deleting',
    ],
  ])('of %s resolve when the removal is durable', async (_, remove, isLasting) => {
    await create('a');
    await service.volumes.create(SCOPE, { volumeID: 'a' });
    onDisk = openLmdbStore(join(rig.root, 'store'), Object.values(TABLES));
    const answers: Promise<boolean>[] = [];
    // Each starts slightly later, so that some find a removal that is not yet durable.
    for (let i = 0; i < 20; i++) {
      answers.push(remove().then(isLasting, isLasting));
      await Promise.resolve();
    }
    expect(new Set(await Promise.all(answers))).toEqual(new Set([true]));
    await onDisk.close();
  });
  /** What another process would read. */
  let onDisk: Store;
});

describe('volumes in use', () => {
  it('reject forced deletion and, after an ordinary deletion, new mounts', async () => {
    const volume = { ...SCOPE, id: 'v' };
    await service.volumes.create(SCOPE, { volumeID: 'v' });
    await create('a', { volumeMounts: { 'v:in/put:dir': '/in' } });
    await launched('a');
    expect(engine.launchOf('a').mounts).toEqual([
      {
        root: join(rig.root, 'clusters/one/volumes/mine/v'),
        subPath: 'in/put',
        kind: 'dir',
        target: '/in',
        readOnly: false,
      },
    ]);
    await expect(service.volumes.delete(volume, { force: true })).rejects.toMatchObject({ reason: 'VOLUME_MOUNTED' });
    await service.volumes.delete(volume);
    await expect(create('b', { volumeMounts: { v: '/v' } })).rejects.toMatchObject({ reason: 'VOLUME_NOT_AVAILABLE' });
    engine.end('a');
    await reaches('a', 'Succeeded');
    await service.volumes.delete(volume, { force: true });
    expect(existsSync(join(rig.root, 'clusters/one/volumes/mine/v'))).toBe(false);
  });
});
