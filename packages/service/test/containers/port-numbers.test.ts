import { expect, it } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

/** Of the 12,768 numbers, enough that a number which is released twice is given to two containers. */
const CONTAINERS = 118;
const NAMES = Array.from({ length: 100 }, (_, i) => `p-${i}`);

it('ports: belong to one live container, also after an ended one that had them is deleted', async () => {
  const engine = new FakeEngine();
  const fake = ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? engine : new FakeEngine());
  const rig = await openRig({ engine: 'fake', cores: 1000, engines: { fake } });
  const { containers } = rig.service.inProcess(PRINCIPAL);
  const ports = Object.fromEntries(NAMES.map((name) => [name, {}]));
  const create = (containerID: string) =>
    containers.create(SCOPE, { instanceType: 'small', command: ['x'], ports }, { containerID });
  const numbersOf = (made: Awaited<ReturnType<typeof create>>) =>
    Object.values(made.ports ?? {}).map(({ port }) => port);
  await create('ended');
  await expect.poll(() => engine.launched.size).toBe(1);
  engine.run('ended');
  engine.end('ended');
  await expect.poll(async () => (await containers.get({ ...SCOPE, id: 'ended' })).phase).toBe('Succeeded');
  const taken: (number | undefined)[] = [];
  for (let i = 0; i < CONTAINERS; i++) {
    if (i === CONTAINERS - 10) await containers.delete({ ...SCOPE, id: 'ended' });
    taken.push(...numbersOf(await create(`c-${i}`)));
  }
  await rig.close();
  expect(taken).toHaveLength(CONTAINERS * NAMES.length);
  expect(new Set(taken).size).toBe(taken.length);
});

it('ports: belong to one container of all clusters, since they may run on one machine', async () => {
  const rig = await openRig({ engine: 'fake', cores: 1000, engines: { fake: () => new FakeEngine() } });
  const { containers } = rig.service.inProcess(PRINCIPAL);
  const ports = Object.fromEntries(NAMES.map((name) => [name, {}]));
  const taken: (number | undefined)[] = [];
  for (let i = 0; i < 10; i++) {
    for (const [clusterID, instanceType] of [
      ['one', 'small'],
      ['two', 'other'],
    ] as const) {
      const made = await containers.create({ ...SCOPE, clusterID }, { instanceType, command: ['x'], ports });
      taken.push(...Object.values(made.ports ?? {}).map(({ port }) => port));
    }
  }
  await rig.close();
  expect(taken).toHaveLength(20 * NAMES.length);
  expect(new Set(taken).size).toBe(taken.length);
});
