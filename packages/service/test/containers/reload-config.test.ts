import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isServiceError } from '@sluice/client';
import { until } from '@sluice/client/contract';
import { expect, onTestFinished, test } from 'vitest';
import { type ServiceConfig, serviceConfigSchema } from '../../src/config/service-config.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, type RigOptions, SCOPE } from '../service-rig.ts';

type Clusters = ServiceConfig['clusters'];

async function open(options?: RigOptions) {
  const rig = await openRig(options);
  onTestFinished(() => rig.close());
  const [one, two, three] = rig.config.clusters as [Clusters[0], Clusters[0], Clusters[0]];
  const reload = (...clusters: Clusters) => rig.service.reload({ ...rig.config, clusters });
  return { rig, one, two, three, reload };
}

test('reloadConfig applies accounts and instance types, and lists what needs a restart', async () => {
  const { rig, one, two, three, reload } = await open();
  const service = rig.service.inProcess(PRINCIPAL);
  const idsNow = async () => (await service.discovery.listInstanceTypes('one')).map(({ id }) => id);
  const grown = { ...one, instanceTypes: [...one.instanceTypes, { ...one.instanceTypes[0]!, id: 'new' }] };

  const taken = await reload(grown, two, three);
  expect(taken).toEqual({ applied: ['clusters.one.instanceTypes'], needsRestart: [], rejected: [] });
  expect(await idsNow()).toEqual(['small', 'big', 'new']);
  const created = await service.containers.create(SCOPE, { instanceType: 'new', command: ['true'] });
  expect(created.instanceType).toBe('new');

  const next = { ...rig.config, cancelGrace: '9s', clusters: [{ ...one, capacity: undefined }, two, three] };
  expect(await rig.service.reload(next)).toEqual({
    applied: ['clusters.one.instanceTypes'],
    needsRestart: ['cancelGrace', 'clusters.one.capacity'],
    rejected: [],
  });
  expect(await idsNow()).toEqual(['small', 'big']);
});

test('reloadConfig opens a new cluster in its place, also after it was removed and added again', async () => {
  const engines: FakeEngine[] = [];
  const fake = () => {
    engines.push(new FakeEngine());
    return engines.at(-1)!;
  };
  const { rig, one, two, three, reload } = await open({ engine: 'fake', engines: { fake } });
  const four = { ...one, id: 'four' };
  const scope = { clusterID: 'four', accountID: 'mine' };
  const principal = { ...PRINCIPAL, accounts: [...PRINCIPAL.accounts, scope] };
  const { containers, volumes, discovery } = rig.service.inProcess(principal);
  const spec = { instanceType: 'small', image: 'x' };
  const rejection = (call: Promise<unknown>) =>
    call.then(
      () => 'taken',
      (error: unknown) => isServiceError(error) && error.code,
    );
  const allRejected = async () => {
    expect(await rejection(containers.create(scope, spec))).toBe('PERMISSION_DENIED');
    expect(await rejection(containers.get({ ...scope, id: 'c' }))).toBe('PERMISSION_DENIED');
    expect(await rejection(volumes.create(scope))).toBe('PERMISSION_DENIED');
  };
  await allRejected();
  expect(await reload(four, one, two, three)).toEqual({ applied: ['clusters.four'], needsRestart: [], rejected: [] });
  const types = await discovery.listInstanceTypes('-');
  expect(types.map(({ clusterID }) => clusterID)).toEqual(['four', 'four', 'one', 'one', 'two']);
  await containers.create(scope, spec, { containerID: 'c' });
  await until('it is launched', async () => engines[3]!.launched.size === 1);
  await volumes.create(scope, { volumeID: 'v' });

  expect((await reload(one, two, three)).rejected).toEqual([
    { field: 'clusters.four', reason: expect.stringContaining('1 containers that have not ended and 1 volumes') },
  ]);
  engines[3]!.end('c');
  await until('it has ended', async () => (await containers.get({ ...scope, id: 'c' })).phase === 'Succeeded');
  await volumes.delete({ ...scope, id: 'v' }, { force: true });
  expect(await reload(one, two, three)).toEqual({ applied: ['clusters.four'], needsRestart: [], rejected: [] });
  await allRejected();

  await reload(one, two, three, four);
  expect(await containers.get({ ...scope, id: 'c' })).toMatchObject({ phase: 'Succeeded' });
});

test('reloadConfig opens new clusters side by side, and does not wait for an engine that does not answer', async () => {
  const engines = new Map<string, FakeEngine>();
  let speak = () => {};
  const silence = new Promise<void>((resolve) => {
    speak = resolve;
  });
  const fake = ({ clusterID }: { clusterID: string }) => {
    const engine = new FakeEngine();
    if (clusterID === 'four') engine.silence = silence;
    engines.set(clusterID, engine);
    return engine;
  };
  const { rig, one, two, three, reload } = await open({ engine: 'fake', engines: { fake } });
  const reloaded = reload(one, two, three, { ...one, id: 'four' }, { ...one, id: 'five' });
  await until('the second one is open', async () => engines.get('five')?.opened === 1);
  await rig.clock.advance(5000);
  expect(await reloaded).toEqual({ applied: ['clusters.four', 'clusters.five'], needsRestart: [], rejected: [] });
  const scope = { clusterID: 'four', accountID: 'mine' };
  const { containers } = rig.service.inProcess({ userId: 'u', accounts: [scope] });
  const create = () => containers.create(scope, { instanceType: 'small', image: 'x' });
  await expect(create()).rejects.toMatchObject({ reason: 'ENGINE_UNAVAILABLE' });
  speak();
  await until('the first one is open', async () =>
    create().then(
      () => true,
      () => false,
    ),
  );
});

test('reloadConfig rejects a cluster that cannot be opened, and leaves the others unchanged', async () => {
  const { one, two, three, reload } = await open();
  const storage = mkdtempSync(join(tmpdir(), 'sluice-storage-'));
  onTestFinished(() => rmSync(storage, { recursive: true }));
  const report = await reload(one, two, three, { ...one, id: 'four', engine: 'none' }, { ...one, id: 'five', storage });
  expect(report).toEqual({
    applied: [],
    needsRestart: [],
    rejected: [
      { field: 'clusters.four', reason: expect.stringContaining("could not find the engine 'none'") },
      { field: 'clusters.five', reason: expect.stringContaining('storage outside of root') },
    ],
  });
});

test('reloadConfig opens a cluster with a storage outside of root only if no container sees the files of the host', async () => {
  const hiding = () => Object.assign(new FakeEngine(), { hidesHost: true });
  const instanceTypes = [{ id: 'small', cpu: 1, memory: '1GB' }];
  const one = { id: 'one', engine: 'hiding', accounts: ['mine'], instanceTypes };
  const rig = await openRig({ engines: { hiding }, config: { clusters: [one] } });
  onTestFinished(() => rig.close());
  const storage = mkdtempSync(join(tmpdir(), 'sluice-storage-'));
  onTestFinished(() => rmSync(storage, { recursive: true }));
  const reload = (...clusters: object[]) =>
    rig.service.reload(serviceConfigSchema.parse({ ...rig.config, clusters: [one, ...clusters] }));
  const outside = { ...one, id: 'two', engine: 'idle', storage };
  expect(await reload(outside)).toMatchObject({ rejected: [] });
  const service = rig.service.inProcess({ userId: 'u', accounts: [{ clusterID: 'two', accountID: 'mine' }] });
  await service.volumes.create({ clusterID: 'two', accountID: 'mine' }, { volumeID: 'there' });
  expect(existsSync(join(storage, 'volumes/mine/there'))).toBe(true);
  // This engine's containers see the files of the host: a new storage would not be hidden from them.
  const third = { ...one, id: 'three', storage: join(storage, 'third') };
  const reason = expect.stringContaining('containers of cluster two could read');
  expect(await reload(outside, third)).toMatchObject({ rejected: [{ field: 'clusters.three', reason }] });
});
