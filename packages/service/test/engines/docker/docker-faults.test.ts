import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFirstProcess, firstProcessParts } from '../../../src/engines/docker/docker-first-process.ts';
import { createRecord, readRecord } from '../../../src/engines/docker/docker-records.ts';
import { dockerRequest } from '../../../src/engines/docker/docker-request.ts';
import { mountSmallDisk } from '../../store/small-disk.ts';
import type { EngineRig } from '../engine-rig.ts';
import { expectEndOnFullDisk } from '../on-full-disk.ts';
import { createWith } from './create-engine.ts';
import { daemon, daemonCall, dockerRig, duringOutage, hasDocker } from './docker-rig.ts';

const registry = process.env.SLUICE_TEST_DOCKER_REGISTRY;
/** How many processes all containers together may have, where the daemon makes its cgroups itself and this user may set it. */
const processLimit = ['/sys/fs/cgroup/pids/docker/pids.max', '/sys/fs/cgroup/docker/pids.max'].find(
  (path) => process.geteuid?.() === 0 && existsSync(path),
);

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

  it('rejects an image that the registry does not have, with the words of the daemon', async () => {
    const container = await rig.prepare({ image: `${registry}/nothing:9`, command: ['true'] });
    expect(await rig.rejection(container)).toMatchObject({
      kind: 'rejected',
      reason: expect.stringMatching(/nothing:9 cannot be pulled from .*: .*(not found|unknown)/),
    });
  });

  it.each(['my image', 'debian:12 ', 'x/../../containers/json'])(
    'rejects %j, which is no name of an image',
    async (image) => {
      const container = await rig.prepare({ image, command: ['true'] });
      expect(await rig.rejection(container)).toMatchObject({
        reason: expect.stringContaining('as the name of an image'),
      });
    },
  );

  it.skipIf(processLimit === undefined)('tries again what the machine has no room for a process for', async () => {
    const container = await rig.prepare({ command: ['sh', '-c', 'exit 8'] });
    await writeFile(processLimit ?? '', '1');
    try {
      await expect(rig.engine.launch(container.launch)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      await writeFile(processLimit ?? '', 'max');
    }
    await rig.engine.launch(container.launch);
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 8 });
  });

  it('rejects GPUs at once where the daemon has no driver for them, with its words', async () => {
    const container = await rig.prepare({ command: ['true'], limits: { gpus: 1 } });
    expect(await rig.rejection(container)).toMatchObject({ reason: expect.stringContaining('device driver') });
  });

  it('gives the exit code of a container that ended while the daemon was restarted', async () => {
    const volume = await rig.makeDirectory('outage');
    const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/v' }];
    const script = 'echo started >> /v/starts; while [ ! -e /v/go ]; do sleep 0.1; done; exit 6';
    const container = await rig.launch({ command: ['sh', '-c', script], mounts });
    await container.seen('running');
    await duringOutage(async () => {
      await rig.write('outage/go', '');
      // Told while the daemon is still away: the container has written it down.
      expect(await container.end()).toMatchObject({ kind: 'exited', exitCode: 6 });
    });
    await rig.engine.launch(container.launch);
    expect(await rig.read('outage/starts')).toBe('started\n');
  });

  it('gives the exit code of what ended while neither daemon nor service was there', async () => {
    const volume = await rig.makeDirectory('both');
    const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/v' }];
    const script = 'while [ ! -e /v/go ]; do sleep 0.1; done; echo said in the dark; echo > /v/over; exit 17';
    const container = await rig.launch({ command: ['sh', '-c', script], mounts });
    await container.seen('running');
    await duringOutage(async () => {
      await rig.leave();
      container.forget();
      await rig.write('both/go', '');
      await rig.untilFile('both/over');
    });
    await rig.start();
    await rig.engine.recover([container.launch]);
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 17 });
    expect(await container.text()).toBe('said in the dark\n');
  });

  it.skipIf(process.geteuid?.() !== 0).each(['bytes', 'inodes'] as const)(
    'knows how a container ended that has used up the %s of its disk',
    async (what) => {
      const makeRig = (directory: string) => dockerRig(undefined, directory);
      await expectEndOnFullDisk(makeRig, what);
    },
  );

  it.skipIf(process.geteuid?.() !== 0)('starts no command whose end could not be recorded', async () => {
    const disk = mountSmallDisk('1m')!;
    const small = dockerRig(undefined, disk.path);
    await small.open();
    const mounts = [{ root: await rig.makeDirectory('elsewhere'), subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await small.prepare({ command: ['sh', '-c', 'echo ran > /v/ledger'], mounts });
    disk.fill();
    await small.engine.launch(container.launch);
    const end = await container.end();
    disk.unmount();
    expect(end).toMatchObject({ kind: 'fault', reason: expect.stringContaining('could not record') });
    expect(existsSync(join(rig.directory, 'elsewhere/ledger'))).toBe(false);
    await small.close();
  });

  it('calls it a fault when a container is killed from outside, since no exit code of the command is known', async () => {
    const container = await rig.launch({ command: ['sleep', '600'] });
    await container.seen('running');
    await daemon('POST', `/containers/sluice-${container.launch.key}/kill`);
    expect(await container.end()).toMatchObject({
      kind: 'fault',
      reason: expect.stringContaining('killed from outside'),
    });
  });

  it('does not run a container again that somebody starts by hand', async () => {
    const volume = await rig.makeDirectory('again');
    const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.run('echo started >> /v/starts; exit 3', { mounts });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 3 });
    const name = `sluice-${container.launch.key}`;
    // The launcher has recorded the end; Docker may not have noticed it yet, and would answer 304.
    await daemonCall('POST', `/containers/${name}/wait`);
    expect(await daemon('POST', `/containers/${name}/start`)).toBe(204);
    expect((await daemonCall('POST', `/containers/${name}/wait`)).text).toContain('"StatusCode":125');
    expect(await rig.read('again/starts')).toBe('started\n');
  });

  it('does not start the command when a mount point shows another file than the service has seen', async () => {
    const volume = await rig.makeDirectory('other');
    await rig.write('other/f', 'secret\n');
    const mount = { root: volume, subPath: '', kind: 'dir' as const, target: '/data' };
    const { launch } = await rig.prepare({ command: ['cat', '/data/f'], mounts: [mount] });
    await createRecord(launch);
    const sources = [{ mount, path: volume, identity: '1:2', submounts: [] }];
    const path = (await findFirstProcess()) ?? 'no first process was built';
    const firstProcess = firstProcessParts(path, { launch, sources });
    const plain = {
      isPodman: false,
      container: { ulimits: {}, staysUser: false, pull: 'missing' as const },
      security: [],
    };
    const body = dockerRequest(launch, { argv: launch.command, sources, firstProcess, ...plain });
    const name = `sluice-${launch.key}`;
    await daemonCall('POST', '/containers/create', { query: { name }, body });
    await daemon('POST', `/containers/${name}/start`);
    await daemonCall('POST', `/containers/${name}/wait`);
    expect((await readRecord(launch.directory))?.exit?.end).toEqual({
      kind: 'rejected',
      reason: "could not mount at '/data': the path of the volume was changed during the start",
    });
    expect(await readFile(launch.logPath, 'utf8')).toBe('');
  });

  it.each(['rename', 'pause'])('ends a container as before after a %s by hand', async (what) => {
    const container = await rig.launch({ command: ['sh', '-c', 'trap "" TERM; echo up; while :; do sleep 1; done'] });
    await rig.untilLog(container, 'up');
    const name = `sluice-${container.launch.key}`;
    const by = { rename: `rename?name=other-${container.launch.key}`, pause: 'pause' }[what];
    expect((await daemonCall('POST', `/containers/${name}/${by}`, { body: {} })).status).toBeLessThan(300);
    await rig.leave();
    container.forget();
    await rig.start();
    await rig.engine.recover([container.launch]);
    await container.seen('running');
    await rig.engine.stop(container.launch.key, { graceMs: 300 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
    await daemon('DELETE', `/containers/other-${container.launch.key}?force=true`);
  });

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

  it('leaves all to a daemon that does not see the files of the service', async () => {
    // There for this process and for no other.
    const path = `/proc/self/task/${process.pid}/exe`;
    const other = dockerRig(() => createWith({ socketPath: process.env.SLUICE_TEST_DOCKER_SOCKET ?? '' }, path));
    await other.open();
    try {
      const container = await other.run('echo kept by the daemon; exit 7');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 7 });
      expect(await container.text()).toBe('kept by the daemon\n');
      expect(await readRecord(container.launch.directory)).toBeUndefined();
    } finally {
      await other.close();
    }
  });
});
