import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mount } from '../../../src/engines/engine.ts';
import type { EngineRig, RigContainer } from '../engine-rig.ts';
import { createWith } from './create-engine.ts';
import { dockerRig, hasDocker, interpose } from './docker-rig.ts';
import { type OwnDaemon, openOwnDaemon } from './own-daemon.ts';

const image = process.env.SLUICE_TEST_DOCKER_IMAGE ?? '';
const GRACEFUL = 'trap "exit 0" TERM; echo up; while :; do sleep 0.05; done';
const PLAIN = 'echo up; exec sleep 600';
const STUBBORN = 'trap "" TERM; echo up; while :; do sleep 0.05; done';

/** What others do to a container, and what a daemon does that hangs. The daemon is the test's own, as it is restarted. */
describe.skipIf(!hasDocker && process.env.CI !== 'true')('Docker engine, when others end its containers', () => {
  let daemon: OwnDaemon;
  let rig: EngineRig;
  let bare: EngineRig;

  beforeAll(async () => {
    daemon = await openOwnDaemon(image);
    const { socketPath } = daemon;
    rig = dockerRig(() => createWith({ socketPath }));
    bare = dockerRig(() => createWith({ socketPath }, '/no/first-process'));
    await rig.open();
    await bare.open();
  }, 240_000);
  afterAll(async () => {
    await rig?.close();
    await bare?.close();
    await daemon?.close();
  });

  const started = async (on: EngineRig, script: string): Promise<RigContainer> => {
    const container = await on.launch({ command: ['sh', '-c', script] });
    await on.untilLog(container, 'up');
    return container;
  };
  const path = ({ launch }: RigContainer) => `/containers/sluice-${launch.key}`;
  const FAULT = { kind: 'fault', reason: expect.stringMatching(/from outside/) };

  it.each([GRACEFUL, PLAIN, STUBBORN])('calls it a fault when another client stops %j', async (script) => {
    for (const one of [rig, bare]) {
      const container = await started(one, script);
      await daemon.call('POST', `${path(container)}/stop?t=1`);
      expect(await container.end()).toMatchObject(FAULT);
    }
  });

  it('calls it a fault when the daemon ends it at its own restart', async () => {
    const containers = [await started(rig, GRACEFUL), await started(rig, PLAIN), await started(bare, PLAIN)];
    await daemon.restart();
    for (const container of containers) expect(await container.end()).toMatchObject({ kind: 'fault' });
  }, 240_000);

  it('leaves its own verdict to a command that signals itself, or is told something by SIGHUP', async () => {
    const own = await rig.run('trap "exit 5" TERM; kill -TERM 1; while :; do sleep 0.05; done');
    expect(await own.end()).toEqual({ kind: 'exited', exitCode: 5 });
    for (const one of [rig, bare]) {
      const container = await started(one, 'trap "exit 6" HUP; echo up; while :; do sleep 0.05; done');
      await daemon.call('POST', `${path(container)}/kill?signal=HUP`);
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 6 });
    }
  });

  it('gives up a create and a start that a hanging daemon does not answer, and starts each once all the same', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'sluice-hang-'));
    const path = join(directory, 'socket');
    const arrived = new Set<string>();
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The daemon is stopped when one container is to be created and another is to be started, and has both calls then.
    const leave = await interpose({ path, daemonPath: daemon.socketPath }, async (call) => {
      const wanted = /POST .*containers.(create.*name=sluice-hang-two|sluice-hang-one[^/]*.start)/.exec(call)?.[1];
      if (wanted === undefined || arrived.size === 2) return;
      arrived.add(wanted);
      if (arrived.size === 2) {
        daemon.signal('SIGSTOP');
        release();
      }
      await both;
    });
    const hung = dockerRig(() => createWith({ socketPath: path }));
    await hung.open();
    try {
      const containers = await Promise.all(
        ['hang-one', 'hang-two'].map(async (name) => {
          const root = await hung.makeDirectory(`${name}-volume`);
          const mounts: Mount[] = [{ root, subPath: '', kind: 'dir', target: '/v' }];
          const key = `${name}-${process.pid}`;
          return await hung.prepare({ key, command: ['sh', '-c', 'echo started >> /v/starts; exit 4'], mounts });
        }),
      );
      const results = await Promise.allSettled(containers.map(({ launch }) => hung.engine.launch(launch)));
      expect(arrived.size).toBe(2);
      for (const result of results) {
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
      }
      daemon.signal('SIGCONT');
      for (const [index, container] of containers.entries()) {
        await hung.engine.launch(container.launch);
        expect(await container.end()).toEqual({ kind: 'exited', exitCode: 4 });
        expect(await hung.read(`hang-${['one', 'two'][index]}-volume/starts`)).toBe('started\n');
      }
    } finally {
      daemon.signal('SIGCONT');
      await hung.close();
      await leave();
      await rm(directory, { recursive: true });
    }
  }, 240_000);
});
