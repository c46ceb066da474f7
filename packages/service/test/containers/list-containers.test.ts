import type { Container, ContainerListItem } from '@sluice/client';
import { expect, it } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

const asItem = ({ id, clusterID, accountID, image, phase, state, createTime }: Container) => ({
  ...{ id, clusterID, accountID, phase, state, createTime },
  ...(image === undefined ? {} : { image }),
});

it('list: returns live and ended containers in the order of creation, in pages, as get does, also after a restart', async () => {
  const engine = new FakeEngine();
  const rig = await openRig({
    cores: 100,
    engine: 'fake',
    engines: { fake: ({ clusterID }) => (clusterID === 'one' ? engine : new FakeEngine()) },
  });
  let service = rig.service.inProcess(PRINCIPAL);
  const ids = Array.from({ length: 40 }, (_, i) => `c-${i}`);
  for (const id of ids)
    await service.containers.create(SCOPE, { instanceType: 'small', image: id }, { containerID: id });
  await expect.poll(() => engine.launched.size).toBe(40);
  for (const id of ids.filter((_, i) => i % 3 > 0)) engine.run(id);
  for (const id of ids.filter((_, i) => i % 3 === 2)) engine.end(id);
  // Read before the ends are durable, and again afterwards.
  await check(ids);
  await expect.poll(async () => (await list({ all: false })).length).toBe(27);
  for (const id of ['c-2', 'c-3', 'c-20']) await service.containers.delete({ ...SCOPE, id });
  const left = ids.filter((id) => !['c-2', 'c-3', 'c-20'].includes(id));
  await check(left);
  service = (await rig.restart()).inProcess(PRINCIPAL);
  await check(left);
  await rig.close();

  async function check(expected: readonly string[]): Promise<void> {
    const items = await list({ all: true });
    expect(items.map(({ id }) => id)).toEqual(expected);
    const gotten = await Promise.all(expected.map((id) => service.containers.get({ ...SCOPE, id })));
    expect(items).toEqual(gotten.map(asItem));
  }

  async function list({ all }: { all: boolean }): Promise<ContainerListItem[]> {
    const items: ContainerListItem[] = [];
    for await (const item of service.containers.list(SCOPE, { all, pageSize: 7 })) items.push(item);
    return items;
  }
});
