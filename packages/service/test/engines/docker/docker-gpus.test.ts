import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gpuDevices } from '../../../src/engines/docker/gpu-devices.ts';
import { EngineRig } from '../engine-rig.ts';
import { createWith } from './create-engine.ts';
import { dockerSubject } from './docker-rig.ts';

const ENGINES = [
  ['Docker', process.env.SLUICE_TEST_DOCKER_SOCKET],
  ['Podman', process.env.SLUICE_TEST_PODMAN_SOCKET],
] as const;
const FILES = ['/dev/sluice-gpu0', '/dev/sluice-gpu1'];
const SHOW = 'ls /dev | grep sluice-gpu';
const mayMakeDevices = process.geteuid?.() === 0;

describe.each(ENGINES)('GPUs by identifier on %s', (_name, socketPath) => {
  const isMissing = !mayMakeDevices || (socketPath === undefined && process.env.CI !== 'true');
  const rig = new EngineRig(() => createWith({ socketPath: socketPath ?? '', gpuIDs: FILES }), dockerSubject());

  beforeAll(async () => {
    if (isMissing) return;
    // Devices like `/dev/null` in place of GPUs.
    for (const path of FILES) execFileSync('mknod', ['-m', '666', path, 'c', '1', '3']);
    await rig.open();
  });
  afterAll(async () => {
    if (isMissing) return;
    await rig.close();
    for (const path of FILES) rmSync(path, { force: true });
  });

  it.skipIf(isMissing)('gives each to one container at a time, also after a restart of the service', async () => {
    const held = await rig.launch({ command: ['sh', '-c', `${SHOW}; sleep 600`], limits: { gpus: 1 } });
    await rig.untilLog(held, 'sluice-gpu0\n');
    await rig.leave();
    await rig.start();
    await rig.engine.recover([held.launch]);
    const other = await rig.run(`${SHOW}; echo x > /dev/sluice-gpu1`, { limits: { gpus: 1 } });
    expect([await other.end(), await other.text()]).toEqual([{ kind: 'exited', exitCode: 0 }, 'sluice-gpu1\n']);
    const both = await rig.prepare({ command: ['sh', '-c', SHOW], limits: { gpus: 2 } });
    const launched = rig.engine.launch(both.launch);
    await expect.poll(() => JSON.stringify(both.observations)).toContain('waiting for 2 of the GPUs');
    await rig.engine.stop(held.launch.key, { graceMs: 0 });
    await launched;
    await both.end();
    expect(await both.text()).toBe('sluice-gpu0\nsluice-gpu1\n');
  });

  it.skipIf(isMissing)(
    'frees the GPUs of a container that cannot start, and assigns none where none are requested',
    async () => {
      const broken = await rig.prepare({ command: ['/no/such'], limits: { gpus: 2 } });
      await rig.rejection(broken);
      const next = await rig.run(SHOW, { limits: { gpus: 2 } });
      expect(await next.text()).toBe('sluice-gpu0\nsluice-gpu1\n');
      const none = await rig.run(`${SHOW}; true`);
      expect(await none.text()).toBe('');
      const many = await rig.prepare({ command: ['true'], limits: { gpus: 3 } });
      expect(await rig.rejection(many)).toMatchObject({ reason: expect.stringContaining('it has 3') });
    },
  );
});

describe('gpuDevices', () => {
  it('requests files of /dev, names of CDI and identifiers of NVIDIA as the daemon takes them', () => {
    expect(gpuDevices(['GPU-1a', '1', 'nvidia.com/gpu=0', '/dev/dri/renderD128'])).toEqual({
      Devices: [
        { PathOnHost: '/dev/dri/renderD128', PathInContainer: '/dev/dri/renderD128', CgroupPermissions: 'rwm' },
      ],
      DeviceRequests: [
        { Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=0'] },
        { Driver: '', DeviceIDs: ['GPU-1a', '1'], Capabilities: [['gpu']] },
      ],
    });
  });
});
