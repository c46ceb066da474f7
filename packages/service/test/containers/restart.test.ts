import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  create,
  engine,
  get,
  launched,
  openContainerRig,
  phase,
  reaches,
  ref,
  restart,
  rig,
  service,
} from './container-rig.ts';

openContainerRig();

describe('restart', () => {
  it('absent: relaunches under a new key a container that provably never started', async () => {
    await create('a');
    await launched('a');
    const [old] = engine.launched.keys();
    engine.launched.clear();
    await restart();
    await launched('a');
    expect(engine.launchOf('a').key).not.toBe(old);
    engine.run('a');
    engine.end('a');
    await reaches('a', 'Succeeded');
  });

  it('absent: a container that ran ends as Unknown, never as Succeeded', async () => {
    await create('a');
    await launched('a');
    engine.run('a');
    await expect.poll(() => phase('a')).toBe('Running');
    engine.launched.clear();
    await restart();
    await reaches('a', 'Unknown');
  });

  it('cancel: a container in Canceling is stopped again', async () => {
    engine.obeysStop = false;
    await create('a');
    await launched('a');
    engine.run('a');
    await service.containers.cancel(ref('a'));
    expect(await phase('a')).toBe('Canceling');
    engine.obeysStop = true;
    await restart();
    await reaches('a', 'Canceled');
    expect(engine.stopped).toHaveLength(2);
    expect(engine.stopped[0]).toMatchObject({ graceMs: 2000 });
  });

  it('delete: a removal in progress is completed', async () => {
    engine.obeysStop = false;
    await create('a');
    await launched('a');
    const { directory } = engine.launchOf('a');
    const deleting = service.containers.delete(ref('a'));
    deleting.catch(() => {});
    await expect.poll(() => engine.stopped.length).toBe(1);
    engine.obeysStop = true;
    await restart();
    await expect(get('a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect.poll(() => existsSync(directory)).toBe(false);
  });

  it('queued: keeps the engine options of an instance type that was removed from the configuration', async () => {
    const cluster = rig.config.clusters[0]!;
    const small = cluster.instanceTypes[0]!;
    const [own, other] = [
      { ...small, id: 'own', options: { runtime: 'runsc' } },
      { ...small, id: 'other' },
    ];
    const withTypes = (instanceTypes: typeof cluster.instanceTypes) => {
      const clusters = [{ ...cluster, instanceTypes }, ...rig.config.clusters.slice(1)];
      (rig.config as { clusters: typeof clusters }).clusters = clusters;
    };
    withTypes([...cluster.instanceTypes, own]);
    await restart();
    await create('first', { instanceType: 'big' });
    await launched('first');
    await create('a', { instanceType: 'own' });
    withTypes([...cluster.instanceTypes, other]);
    await restart();
    engine.run('first');
    engine.end('first');
    await launched('a');
    expect(engine.launchOf('a').options).toEqual({ runtime: 'runsc' });
  });

  it('is rejected while another process serves the root', async () => {
    const { createService } = await import('../../src/service/service.ts');
    const { embeddedConfig } = await import('../../src/config/embedded-config.ts');
    await expect(createService({ config: embeddedConfig({ root: rig.root }) })).rejects.toMatchObject({
      code: 'STORE_IN_USE',
    });
  });
});
