import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineRig } from '../engine-rig.ts';
import { daemon, dockerRig, hasDocker, restartDaemon } from './docker-rig.ts';

const registry = process.env.SLUICE_TEST_DOCKER_REGISTRY;

describe.skipIf(!hasDocker && process.env.CI !== 'true')('Docker engine on a real daemon', () => {
  let rig: EngineRig;

  beforeAll(async () => {
    rig = dockerRig();
    await rig.open();
  });
  afterAll(() => rig.close());

  it('pulls an image that is absent, and says so meanwhile', async () => {
    const image = `${registry}/pulled:1`;
    await daemon('DELETE', `/images/${image}?force=true`);
    const container = await rig.launch({ image, command: ['sh', '-c', 'echo pulled'] });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(await container.text()).toBe('pulled\n');
    const reasons = container.observations.flatMap((one) => (one.type === 'pending' ? [one.reason] : []));
    expect(reasons[0]).toBe(`pulling image ${image}`);
    expect(reasons.length).toBeGreaterThan(1);
  });

  it('refuses an image that the registry does not have, with the words of the daemon', async () => {
    const container = await rig.prepare({ image: `${registry}/nothing:9`, command: ['true'] });
    expect(await rig.refusal(container)).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/nothing:9 cannot be pulled: .*(not found|unknown)/),
    });
  });

  it('gives the exit code of a container that ended while the daemon was restarted', async () => {
    const volume = await rig.makeDirectory('outage');
    const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/v' }];
    const script = 'echo started >> /v/starts; while [ ! -e /v/go ]; do sleep 0.1; done; exit 6';
    const container = await rig.launch({ command: ['sh', '-c', script], mounts });
    await container.seen('running');
    const restarted = restartDaemon();
    await rig.write('outage/go', '');
    await restarted;
    expect(await container.end()).toMatchObject({ kind: 'exited', exitCode: 6 });
    expect(await rig.read('outage/starts')).toBe('started\n');
  }, 90_000);

  it('calls it a fault when someone removes the container from outside', async () => {
    const container = await rig.launch({ command: ['sleep', '600'] });
    await container.seen('running');
    await daemon('DELETE', `/containers/sluice-${container.launch.key}?force=true`);
    const end = await container.end();
    expect(['fault', 'exited']).toContain(end.kind);
    expect(end).not.toMatchObject({ exitCode: 0 });
  });

  it('keeps a create whose answer was lost to one container, found by its name', async () => {
    const container = await rig.launch({ command: ['sh', '-c', 'sleep 1; exit 2'] });
    await rig.leave();
    await rig.start();
    await rig.engine.launch(container.launch);
    expect(await container.end()).toMatchObject({ exitCode: 2 });
    expect(container.observations.filter((one) => one.type === 'ended')).toHaveLength(1);
  });
});
