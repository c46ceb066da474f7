import { expect, it } from 'vitest';
import { createService } from '../../src/service/service.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

it('a start: does not wait for an engine that does not answer, and uses it once it does', async () => {
  const silent = new FakeEngine();
  const other = new FakeEngine();
  const fake = ({ clusterID }: { clusterID: string }) => (clusterID === 'one' ? silent : other);
  const rig = await openRig({ engine: 'fake', engines: { fake } });
  const create = (containerID: string, clusterID = 'one') =>
    service
      .inProcess(PRINCIPAL)
      .containers.create(
        { ...SCOPE, clusterID },
        { instanceType: clusterID === 'one' ? 'small' : 'other', command: ['x'] },
        { containerID },
      );
  let service = rig.service;
  await create('a');
  await expect.poll(() => silent.launched.size).toBe(1);
  silent.run('a');
  await service.close();
  let speak = () => {};
  silent.silence = new Promise((resolve) => {
    speak = resolve;
  });
  const { config, clock, engines } = rig;
  const opening = createService({ config, clock, engines });
  // The others are opened while this one is silent.
  await expect.poll(() => other.opened).toBeGreaterThan(2);
  await clock.advance(5000);
  service = await opening;
  await create('b', 'two');
  await expect(create('c')).rejects.toMatchObject({ reason: 'ENGINE_UNAVAILABLE' });
  // Its containers are known all the same.
  expect(await service.inProcess(PRINCIPAL).containers.get({ ...SCOPE, id: 'a' })).toMatchObject({ phase: 'Running' });
  speak();
  await expect
    .poll(() =>
      create('c').then(
        ({ id }) => id,
        () => '',
      ),
    )
    .toBe('c');
  silent.run('a');
  silent.end('a');
  await expect
    .poll(async () => (await service.inProcess(PRINCIPAL).containers.get({ ...SCOPE, id: 'a' })).phase)
    .toBe('Succeeded');
  await service.close();
  await rig.close();
});
