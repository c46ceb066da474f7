import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, type Rig, SCOPE } from '../service-rig.ts';

const DAY_MS = 86_400_000;

let rig: Rig;
beforeEach(async () => {
  rig = await openRig({ engine: 'fake', engines: { fake: () => new FakeEngine() } });
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
});
