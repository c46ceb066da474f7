import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@sluice/client/contract';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProcessConfig } from '../../src/engines/process/process-config.ts';
import { createProcessEngine } from '../../src/engines/process/process-engine.ts';
import { hasNamespaces } from '../engines/has-namespaces.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';
import { canHang } from '../storage/hung-mount.ts';
import { mountPassthrough } from '../storage/passthrough-mount.ts';

test.runIf(hasNamespaces)(
  'a container finds nothing in the storage of another cluster, which the first start of the service makes',
  async () => {
    // Not in /tmp, since each container has its own.
    const directory = await mkdtemp('/var/tmp/sluice-storages-');
    onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
    const instanceTypes = [{ id: 'small', cpu: 1, memory: '1GB' }];
    const cluster = (id: string) => ({
      ...{ id, engine: 'process', accounts: ['mine'], instanceTypes },
      storage: join(directory, id, 'storage'),
    });
    const rig = await openRig({ config: { clusters: [cluster('one'), cluster('two')] } });
    onTestFinished(() => rig.close());
    const storage = join(directory, 'two/storage');
    expect(existsSync(join(storage, 'volumes'))).toBe(true);
    await writeFile(join(storage, 'secret'), 'of another cluster');
    const service = rig.service.inProcess(PRINCIPAL);
    const command = ['sh', '-c', `ls -A ${storage}; cat ${storage}/secret`];
    const { id } = await service.containers.create(SCOPE, { instanceType: 'small', command });
    const ref = { ...SCOPE, id };
    await until('it has ended', async () => (await service.containers.get(ref)).phase === 'Failed');
    let log = '';
    for await (const part of service.containers.logs(ref)) log += Buffer.from(part).toString();
    expect(log).toContain('No such file');
    expect(log).not.toContain('of another cluster');
  },
);

const isNative = existsSync(fileURLToPath(new URL('../../native/build/launcher', import.meta.url)));

/** A service whose cluster `one` hides the storage of another cluster, which can be held; `running` runs. */
async function openWithHeldStorage(config?: ProcessConfig) {
  const directory = await mkdtemp('/var/tmp/sluice-storages-');
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  for (const name of ['backing', 'storage', 'other']) await mkdir(join(directory, name));
  const mount = await mountPassthrough(join(directory, 'backing'), join(directory, 'storage'));
  onTestFinished(() => mount.unmount());
  const instanceTypes = [{ id: 'small', cpu: 1, memory: '1GB' }];
  const other = { id: 'two', engine: 'fake', accounts: ['mine'], instanceTypes };
  const rig = await openRig({
    engines: { fake: () => new FakeEngine(), own: (site) => createProcessEngine(config, site) },
    config: {
      clusters: [
        { ...other, id: 'one', engine: 'own' },
        { ...other, storage: join(directory, 'storage') },
      ],
    },
  });
  onTestFinished(() => rig.close());
  const { containers, volumes } = rig.service.inProcess(PRINCIPAL);
  const create = (containerID: string, command: string[], volumeMounts: Record<string, string> = {}) =>
    containers.create(SCOPE, { instanceType: 'small', command, volumeMounts }, { containerID });
  const untilPhase = (id: string, phase: string) =>
    until(`${id} is ${phase}`, async () => {
      await rig.clock.advance(100);
      return (await containers.get({ ...SCOPE, id })).phase === phase;
    });
  await volumes.create(SCOPE, { volumeID: 'v' });
  await create('running', ['sleep', '600']);
  await untilPhase('running', 'Running');
  return { directory, mount, containers, create, untilPhase };
}

describe.runIf(hasNamespaces && canHang() && isNative)('while a hidden storage does not answer', () => {
  test('containers start and stop', async () => {
    // Mounts that other tests make are not visible to this launcher: after one, it would need a new root for all starts.
    const { mount, containers, create, untilPhase } = await openWithHeldStorage({ prefix: ['unshare', '--mount'] });
    await mount.hold();
    await create('same', ['true']);
    await untilPhase('same', 'Succeeded');
    // A new mount point needs a root in which the storage is hidden.
    await create('new', ['true'], { v: '/new-point' });
    await until('the root is being built', async () => (await mount.held()) > 0);
    await containers.cancel({ ...SCOPE, id: 'running' });
    await untilPhase('running', 'Canceled');
    expect((await containers.get({ ...SCOPE, id: 'new' })).phase).toBe('Pending');

    await mount.answer();
    await untilPhase('new', 'Succeeded');
  });

  test('containers stop after a change of the mounts, which replaces a launcher to which mounts are not propagated', async () => {
    const { directory, mount, containers, untilPhase } = await openWithHeldStorage();
    await mount.hold();
    const disk = join(directory, 'other');
    expect(spawnSync('mount', ['-t', 'tmpfs', 'other', disk]).status).toBe(0);
    onTestFinished(() => void spawnSync('umount', [disk]));
    await containers.cancel({ ...SCOPE, id: 'running' });
    await untilPhase('running', 'Canceled');
    expect(await mount.held()).toBeGreaterThan(0);
  });
});
