import { expect, onTestFinished, test } from 'vitest';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

test('a changed configuration gives clusters their accounts and instance types, and names what takes a restart', async () => {
  const rig = await openRig();
  onTestFinished(() => rig.close());
  const service = rig.service.inProcess(PRINCIPAL);
  const idsNow = async () => (await service.discovery.listInstanceTypes('one')).map(({ id }) => id);
  const [one, two, three] = rig.config.clusters as [(typeof rig.config.clusters)[0], object, object];
  const grown = { ...one, instanceTypes: [...one.instanceTypes, { ...one.instanceTypes[0]!, id: 'new' }] };

  const taken = await rig.service.reload({ ...rig.config, clusters: [grown, two, three] as never });
  expect(taken).toEqual({ applied: ['clusters.one.instanceTypes'], needsRestart: [] });
  expect(await idsNow()).toEqual(['small', 'big', 'new']);
  const created = await service.containers.create(SCOPE, { instanceType: 'new', command: ['true'] });
  expect(created.instanceType).toBe('new');

  const next = { ...rig.config, cancelGraceSeconds: 9, clusters: [{ ...one, capacity: undefined }, three] as never };
  expect(await rig.service.reload(next)).toEqual({
    applied: ['clusters.one.instanceTypes'],
    needsRestart: ['cancelGraceSeconds', 'clusters.one.capacity', 'clusters.two'],
  });
  expect(await idsNow()).toEqual(['small', 'big']);
});
