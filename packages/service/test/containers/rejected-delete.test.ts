import { afterAll, describe, expect, it } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';
import { mountSmallDisk } from '../store/small-disk.ts';

const disk = mountSmallDisk('40m');

describe.skipIf(disk === undefined && process.env.CI !== 'true')('a delete that a full disk rejects', () => {
  afterAll(() => disk!.unmount());

  it('keeps the container and its end, also if it ends at the same time', async () => {
    const engine = new FakeEngine();
    const fake = ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine());
    const rig = await openRig({ engine: 'fake', cores: 100, engines: { fake }, parent: disk!.path });
    const { containers } = rig.service.inProcess(PRINCIPAL);
    const ids = Array.from({ length: 24 }, (_, i) => `c-${i}`);
    for (const id of ids)
      await containers.create(SCOPE, { instanceType: 'small', command: ['x'] }, { containerID: id });
    await expect.poll(() => engine.launched.size).toBe(ids.length);
    for (const id of ids) engine.run(id);
    disk!.fill();
    const rejected = new Set<string>();
    const deletes = ids.map(async (id, i) => {
      const deleted = containers.delete({ ...SCOPE, id }).catch((error: unknown) => {
        expect(error).toMatchObject({ reason: 'STORE_FULL' });
        rejected.add(id);
      });
      // Each ends a little later, so that some end while their mark is not yet durable.
      for (let step = 0; step < i; step++) await null;
      engine.end(id);
      await deleted;
    });
    await expect.poll(() => rejected.size).toBeGreaterThan(0);
    // The others wait for their end, which cannot be durable before.
    disk!.empty();
    await Promise.all(deletes);
    const phases = async (of = containers) =>
      await Promise.all(
        ids.map((id) =>
          of.get({ ...SCOPE, id }).then(
            ({ phase }) => phase,
            (error) => error.code,
          ),
        ),
      );
    const expected = ids.map((id) => (rejected.has(id) ? 'Succeeded' : 'NOT_FOUND'));
    await expect.poll(() => phases()).toEqual(expected);
    const restarted = (await rig.restart()).inProcess(PRINCIPAL).containers;
    expect(await phases(restarted)).toEqual(expected);
    await rig.close();
  });
});
