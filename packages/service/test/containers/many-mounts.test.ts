import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SCOPE } from '../service-rig.ts';
import { create, get, openContainerRig, rig, service } from './container-rig.ts';

openContainerRig();

/** More than the event loop may be blocked for, and the most that a body may contain. */
const MOUNTS = 10_000;
/** The least turns of the event loop for other work; with mounts resolved in one piece, there would be none. */
const TURNS = 20;

const mounts = (last: string) =>
  Object.fromEntries(
    Array.from({ length: MOUNTS }, (_, i) => [i === MOUNTS - 1 ? last : `v:a/b-${i}:dir`, `/mnt/${i}`]),
  );

it('create: lets other calls run while it resolves 10,000 mounts', async () => {
  await service.volumes.create(SCOPE, { volumeID: 'v' });
  const directory = join(rig.root, 'clusters/one/volumes/mine/v/a');
  const seen = new Set<number>();
  const look = () => void seen.add(statSync(directory, { throwIfNoEntry: false })?.nlink ?? 0);
  await turnsDuring(() => create('many', { volumeMounts: mounts('v:last:dir') }), look);
  // Others have run at so many stages of the work.
  expect(seen.size).toBeGreaterThan(TURNS);
  expect(Object.keys((await get('many')).volumeMounts ?? {})).toHaveLength(MOUNTS);
  expect(readdirSync(directory)).toHaveLength(MOUNTS - 1);
});

it('create: lets other calls run while it rejects 10,000 mounts, and creates nothing for them', async () => {
  await service.volumes.create(SCOPE, { volumeID: 'v' });
  const rejected = async () =>
    await expect(create('many', { volumeMounts: mounts('v:absent') })).rejects.toMatchObject({
      reason: 'MOUNT_INVALID',
    });
  expect(await turnsDuring(rejected)).toBeGreaterThan(TURNS);
  expect(existsSync(join(rig.root, 'clusters/one/volumes/mine/v/a'))).toBe(false);
});

async function turnsDuring(call: () => Promise<unknown>, each = () => {}): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    each();
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await call();
  isOver = true;
  return turns;
}
