import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { createLocalEngine } from '../../../src/engines/local-engine.ts';
import { probeEngines } from '../../../src/engines/probe-engines.ts';
import { EngineRig } from '../engine-rig.ts';
import { dockerSubject, hasDocker } from './docker-rig.ts';

const { SLUICE_TEST_DOCKER_SOCKET: socketPath, SLUICE_TEST_DOCKER_IMAGE: image = '', DOCKER_HOST } = process.env;

/** The embedded service's engine, where `DOCKER_HOST` names `path`. */
async function openRig(path: string): Promise<EngineRig> {
  process.env.DOCKER_HOST = `unix://${path}`;
  const { image: _none, ...subject } = dockerSubject();
  const rig = new EngineRig(() => createLocalEngine({ clusterID: 'here', maskedPaths: [] }), subject);
  await rig.open();
  return rig;
}

afterEach(() => {
  if (DOCKER_HOST === undefined) delete process.env.DOCKER_HOST;
  else process.env.DOCKER_HOST = DOCKER_HOST;
});

describe.skipIf(!hasDocker && process.env.CI !== 'true')('local engine with a daemon that answers', () => {
  it('runs what names an image there, all else as processes, and takes both up after a restart', async () => {
    const rig = await openRig(socketPath ?? '');
    try {
      const script = 'while [ ! -e /v/go ]; do sleep 0.05; done; exit $(cat /v/go)';
      const mounts = [{ root: await rig.makeDirectory('v'), subPath: '', kind: 'dir' as const, target: '/v' }];
      const command = ['sh', '-c', script];
      const contained = await rig.launch({ image, command, mounts });
      const plain = await rig.launch({ command, mounts });
      expect((await contained.seen('running')).nodeID).toBe('docker');
      expect((await plain.seen('running')).nodeID).toBe(hostname());
      await rig.leave();
      for (const container of [contained, plain]) container.forget();
      await rig.start();
      await rig.engine.recover([contained.launch, plain.launch]);
      await rig.write('v/go', '7');
      for (const container of [contained, plain]) expect(await container.end()).toMatchObject({ exitCode: 7 });
    } finally {
      await rig.close();
    }
  });

  it('stops what an earlier service launched, though the daemon was away when that was to be taken up', async () => {
    const rig = await openRig(socketPath ?? '');
    try {
      const container = await rig.launch({ image, command: ['sleep', '600'] });
      await container.seen('running');
      await rig.leave();
      process.env.DOCKER_HOST = 'unix:///nowhere/docker.sock';
      await rig.start();
      await rig.engine.recover([container.launch]);
      process.env.DOCKER_HOST = `unix://${socketPath}`;
      await rig.engine.stop(container.launch.key, { graceMs: 100 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
    } finally {
      await rig.close();
    }
  });

  it('is what the probe finds', async () => {
    process.env.DOCKER_HOST = `unix://${socketPath}`;
    const docker = (await probeEngines()).find(({ engine }) => engine === 'docker');
    expect(docker).toEqual({ engine: 'docker', works: true, found: `Docker Engine on ${socketPath}` });
  });
});

describe('local engine without a daemon', () => {
  it('rejects an image with the way out and runs all else', async () => {
    const rig = await openRig('/nowhere/docker.sock');
    try {
      const wanted = await rig.prepare({ image: 'debian:12', command: ['true'] });
      expect(await rig.rejection(wanted)).toMatchObject({
        kind: 'rejected',
        reason: expect.stringMatching(/debian:12.*docker/s),
      });
      expect(await (await rig.run('exit 4')).end()).toEqual({ kind: 'exited', exitCode: 4 });
    } finally {
      await rig.close();
    }
  });

  it('is what the probe says, with what to install', async () => {
    process.env.DOCKER_HOST = 'unix:///nowhere/docker.sock';
    const docker = (await probeEngines()).find(({ engine }) => engine === 'docker');
    expect(docker).toMatchObject({
      works: false,
      found: 'nothing answers on /nowhere/docker.sock',
      advice: expect.stringContaining('install Docker Engine'),
    });
  });
});
