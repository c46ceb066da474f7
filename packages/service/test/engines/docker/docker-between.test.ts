import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineError } from '../../../src/engines/engine.ts';
import type { EngineRig, RigLaunch } from '../engine-rig.ts';
import { createWith } from './create-engine.ts';
import { daemon, daemonCall, dockerRig, duringOutage, hasDocker, interpose } from './docker-rig.ts';

const registry = process.env.SLUICE_TEST_DOCKER_REGISTRY;

/** What may happen between two calls that start one container; the engine's caller tries again what is UNAVAILABLE. */
describe.skipIf(!hasDocker && process.env.CI !== 'true')('Docker engine between its calls', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-between-'));
  const socketPath = join(directory, 'socket');
  let rig: EngineRig;
  let leave: () => Promise<void>;
  /** Done once, before the first call that `on` matches. */
  let event: { on: RegExp; work: () => Promise<unknown> } | undefined;

  beforeAll(async () => {
    leave = await interpose({ path: socketPath }, async (call) => {
      if (!event?.on.test(call)) return;
      const { work } = event;
      event = undefined;
      await work();
    });
    rig = dockerRig(() => createWith({ socketPath }));
    await rig.open();
  });
  afterAll(async () => {
    await rig.close();
    await leave();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });

  async function launchTwice(
    wanted: RigLaunch,
    on: RegExp,
    work: (key: string) => Promise<unknown>,
    between = async () => {},
  ) {
    const container = await rig.prepare(wanted);
    event = { on, work: () => work(container.launch.key) };
    const failure = await rig.engine.launch(container.launch).catch((error: unknown) => error);
    expect(event).toBeUndefined();
    expect(failure).toBeInstanceOf(EngineError);
    expect(failure).toMatchObject({ code: 'UNAVAILABLE' });
    await between();
    await rig.engine.launch(container.launch);
    return container;
  }

  it('pulls an image again that was removed before the container was created', async () => {
    const image = `${registry}/pulled:1`;
    const remove = () => daemon('DELETE', `/images/${image}?force=true`);
    const container = await launchTwice({ image, command: ['sh', '-c', 'exit 3'] }, /POST .*containers.create/, remove);
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 3 });
  });

  it('creates a container again that was pruned before its start', async () => {
    const prune = (key: string) => daemon('DELETE', `/containers/sluice-${key}`);
    const container = await launchTwice({ command: ['sh', '-c', 'exit 4'] }, /POST .*start$/, prune);
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 4 });
  });

  it('gives up a pull that is wanted no more', async () => {
    const container = await rig.prepare({ image: `${registry}/pulled:1`, command: ['true'] });
    await daemon('DELETE', `/images/${container.launch.image}?force=true`);
    const unwanted = new AbortController();
    event = { on: /POST .*images.create/, work: () => new Promise<void>(() => unwanted.abort()) };
    const launching = rig.engine.launch(container.launch, { signal: unwanted.signal });
    await expect(launching).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await rig.engine.recover([container.launch]);
    await container.seen('absent');
  });

  it('says absent only of what a start under way cannot start any more', async () => {
    const root = await rig.makeDirectory('under-way');
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.prepare({ command: ['sh', '-c', 'echo started >> /v/starts'], mounts });
    const asked = new Promise<void>((resolve) => {
      event = { on: /POST .*start$/, work: () => new Promise(() => resolve()) };
    });
    const launching = rig.engine.launch(container.launch).catch(() => undefined);
    await asked;
    await rig.leave();
    await launching;
    await rig.start();
    await rig.engine.recover([container.launch]);
    await container.seen('absent');
    const name = `sluice-${container.launch.key}`;
    // What the daemon was asked for by the service that is no more.
    expect(await daemon('POST', `/containers/${name}/start`)).toBe(204);
    expect((await daemonCall('POST', `/containers/${name}/wait`)).text).toContain('"StatusCode":125');
    await expect(rig.read('under-way/starts')).rejects.toThrow('ENOENT');
  });

  it('removes a container that has no first process before it says absent, since a start may be under way', async () => {
    const bare = dockerRig(() => createWith({ socketPath }, '/no/first-process'));
    await bare.open();
    const container = await bare.prepare({ command: ['true'] });
    const asked = new Promise<void>((resolve) => {
      event = { on: /POST .*start$/, work: () => new Promise(() => resolve()) };
    });
    const launching = bare.engine.launch(container.launch).catch(() => undefined);
    await asked;
    await bare.leave();
    await launching;
    await bare.start();
    await bare.engine.recover([container.launch]);
    await container.seen('absent');
    // What the daemon was asked for by the service that is no more.
    expect(await daemon('POST', `/containers/sluice-${container.launch.key}/start`)).toBe(404);
    await bare.close();
  });

  it('waits for the daemon half a minute, and for one container that it hangs over not longer', async () => {
    const wanted = { command: ['sh', '-c', 'sleep 1; exit 6'] };
    const [hung, other] = [await rig.launch(wanted), await rig.launch(wanted)];
    await rig.leave();
    for (const { launch } of [hung, other]) await daemonCall('POST', `/containers/sluice-${launch.key}/wait`);
    await rig.start();
    const asked = new Promise<void>((resolve) => {
      event = { on: /GET ._ping/, work: () => new Promise(() => resolve()) };
    });
    const opening = createWith({ socketPath }).open({ report: () => {} });
    const unanswered = expect(opening).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await asked;
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { Id } = JSON.parse((await daemonCall('GET', `/containers/sluice-${hung.launch.key}/json`)).text) as {
      Id: string;
    };
    event = { on: new RegExp(`GET .*${Id}.json`), work: () => held };
    await rig.engine.recover([hung.launch, other.launch]);
    expect(await other.end()).toEqual({ kind: 'exited', exitCode: 6 });
    letGo();
    expect(await hung.end()).toEqual({ kind: 'exited', exitCode: 6 });
    await unanswered;
  });

  it('has started what the daemon confirms and then does not describe for a minute, also if it is removed meanwhile', async () => {
    const container = await rig.prepare({ command: ['sleep', '1000'] });
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const hold = () => {
      const describes = new RegExp(`GET .*${container.launch.key}.json`);
      event = {
        on: describes,
        work: async () => {
          hold();
          await held;
        },
      };
    };
    event = { on: /POST .*start$/, work: async () => hold() };
    await rig.engine.launch(container.launch);
    await daemon('DELETE', `/containers/sluice-${container.launch.key}?force=true`);
    event = undefined;
    letGo();
    expect(await container.end()).toMatchObject({ kind: 'fault', reason: expect.stringContaining('removed') });
  });

  it('starts one container when the daemon is away between create and start', async () => {
    const root = await rig.makeDirectory('once');
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const wanted = { command: ['sh', '-c', 'echo started >> /v/starts; exit 5'], mounts };
    let comeBack = () => {};
    let outage = Promise.resolve();
    const goAway = () =>
      new Promise<void>((isAway) => {
        outage = duringOutage(async () => {
          isAway();
          await new Promise<void>((resolve) => {
            comeBack = resolve;
          });
        });
      });
    const container = await launchTwice(wanted, /POST .*start$/, goAway, async () => {
      comeBack();
      await outage;
    });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 5 });
    expect(await rig.read('once/starts')).toBe('started\n');
  });
});
