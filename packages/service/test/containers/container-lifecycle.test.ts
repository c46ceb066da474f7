import { appendFileSync, existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerService, ContainerSpec } from '@sluice/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type End, EngineError } from '../../src/engines/engine.ts';
import { openLmdbStore } from '../../src/store/lmdb-store.ts';
import type { Store } from '../../src/store/store.ts';
import { idKey, TABLES } from '../../src/store/tables.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, type Rig, SCOPE } from '../service-rig.ts';

let engine: FakeEngine;
let rig: Rig;
let service: ContainerService;
beforeEach(async () => {
  engine = new FakeEngine();
  const other = new FakeEngine();
  rig = await openRig({
    cores: 4,
    engine: 'fake',
    engines: { fake: ({ clusterID }) => (clusterID === 'one' ? engine : other) },
  });
  service = rig.service.inProcess(PRINCIPAL);
});
afterEach(() => rig.close());

const ref = (id: string) => ({ ...SCOPE, id });
const create = (id: string, spec: Partial<ContainerSpec> = {}) =>
  service.containers.create(SCOPE, { instanceType: 'small', command: ['x'], ...spec }, { containerID: id });
/** Advances the clock by 500 ms, then tries to create the container. */
const createLater = async (id: string) => {
  await rig.clock.advance(500);
  return create(id).then(
    () => 'created',
    () => 'refused',
  );
};
const get = (id: string) => service.containers.get(ref(id));
const phase = async (id: string) => (await get(id)).phase;
/** Resolves when the service is idle. */
const reaches = (id: string, wanted: string) => expect.poll(() => phase(id), { interval: 2 }).toBe(wanted);
const launched = (id: string) =>
  expect
    .poll(() => [...engine.launched.values()].some((launch) => launch.containerID === id), { interval: 2 })
    .toBe(true);

describe('phases', () => {
  it('follow the engine, with times and IDs as soon as they are known', async () => {
    const created = await create('a');
    expect(created).toMatchObject({ phase: 'Pending', state: 'starting' });
    expect(created).not.toHaveProperty('startTime');
    await launched('a');
    engine.observe('a', { type: 'pending', reason: 'pulling image: 3 of 7 layers' });
    expect(await get('a')).toMatchObject({ phase: 'Pending', state: 'pulling image: 3 of 7 layers' });
    const at = rig.clock.now();
    engine.run('a', at + 1000);
    const running = await get('a');
    expect(running).toMatchObject({ phase: 'Running', nodeID: 'node-1', runID: 'run-a' });
    expect(running.startTime).toBe(new Date(at + 1000).toISOString());
    expect(running).not.toHaveProperty('endTime');
    engine.observe('a', { type: 'exiting' });
    expect(await phase('a')).toBe('Exiting');
    engine.end('a', undefined, at + 3500);
    await reaches('a', 'Succeeded');
    expect(await get('a')).toMatchObject({ state: 'exit code 0', runTime: 2.5 });
  });

  it.each<[End, string, string]>([
    [{ kind: 'exited', exitCode: 3 }, 'Failed', 'exit code 3'],
    [{ kind: 'exited', exitCode: 137, signal: 'SIGKILL' }, 'Failed', 'exit code 137: killed by SIGKILL'],
    [{ kind: 'exited', exitCode: 137, outOfMemory: true }, 'Failed', 'out of memory (exit code 137)'],
    [{ kind: 'exited', exitCode: 0, outOfMemory: true }, 'Failed', 'out of memory (exit code 0)'],
    [{ kind: 'refused', reason: 'no such image' }, 'Failed', 'no such image'],
    [{ kind: 'fault', reason: 'the node is gone' }, 'Unknown', 'the node is gone'],
    [{ kind: 'stopped' }, 'Unknown', 'stopped'],
  ])('an end %j is %s', async (end, wanted, state) => {
    await create('a');
    await launched('a');
    engine.run('a');
    engine.end('a', end);
    await reaches('a', wanted);
    expect(await get('a')).toMatchObject({ state });
  });

  it('never change after a terminal one, and are never entered again', async () => {
    await create('a');
    await launched('a');
    engine.run('a');
    engine.end('a', { kind: 'exited', exitCode: 1 });
    await reaches('a', 'Failed');
    const end = await get('a');
    engine.end('a');
    engine.run('a');
    engine.observe('a', { type: 'exiting' });
    expect(await get('a')).toEqual(end);
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
    expect(await get('a')).toEqual(end);
  });

  it('watch: reports each change of the caller’s accounts', async () => {
    const hints: string[] = [];
    const stop = service.watch((hint) => hints.push(hint.containerID));
    await create('a');
    await launched('a');
    engine.run('a');
    engine.end('a');
    await reaches('a', 'Succeeded');
    stop?.();
    expect(hints.length).toBeGreaterThanOrEqual(2);
    expect(new Set(hints)).toEqual(new Set(['a']));
  });
});

describe('capacity', () => {
  it('queues a container that does not fit, reports why, and never lets a small one overtake a large one', async () => {
    await create('s1');
    await create('big', { instanceType: 'big' });
    await create('s2');
    expect(await get('big')).toMatchObject({ phase: 'Pending', state: 'waiting for 4 cores of cluster one (3 free)' });
    expect(await get('s2')).toMatchObject({ state: 'queued in cluster one behind 1 other' });
    await launched('s1');
    engine.end('s1');
    await launched('big');
    expect(await get('s2')).toMatchObject({ state: 'waiting for 1 core of cluster one (0 free)' });
    engine.end('big');
    await launched('s2');
  });

  it('rejects a container that can never fit', async () => {
    const call = service.containers.create(
      { clusterID: 'two', accountID: 'mine' },
      { instanceType: 'none', command: ['x'] },
    );
    await expect(call).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'INSTANCE_TYPE_UNKNOWN' });
  });

  it('cancel: ends a waiting container without the engine, and others move up', async () => {
    await create('big', { instanceType: 'big' });
    await create('s1');
    await create('s2');
    await service.containers.cancel(ref('s1'));
    expect(await get('s1')).toMatchObject({ phase: 'Canceled', state: 'canceled before it was started', runTime: 0 });
    await launched('big');
    engine.end('big');
    await launched('s2');
    expect(engine.asked.map(({ containerID }) => containerID)).toEqual(['big', 's2']);
  });

  it('counts running containers after a restart', async () => {
    await create('big', { instanceType: 'big' });
    await launched('big');
    engine.run('big');
    await create('s1');
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
    expect(await get('big')).toMatchObject({ phase: 'Running' });
    await expect.poll(async () => (await get('s1')).state).toBe('waiting for 1 core of cluster one (0 free)');
    engine.end('big');
    await launched('s1');
  });
});

describe('an unavailable engine', () => {
  it('gets the launch again until it accepts it, and the container starts once', async () => {
    engine.launchErrors.push(new EngineError('UNAVAILABLE', 'no answer'), new EngineError('UNAVAILABLE', 'no answer'));
    await create('a');
    await expect.poll(async () => (await get('a')).state).toBe('the engine is not available, trying again: no answer');
    await rig.clock.advance(500);
    await expect.poll(() => engine.asked.length).toBe(2);
    await rig.clock.advance(1000);
    await launched('a');
    expect(new Set(engine.asked.map(({ key }) => key)).size).toBe(1);
  });

  it('ends the container with its message if it rejects the launch', async () => {
    engine.launchErrors.push(new EngineError('REFUSED', 'could not run the image x because there is no Docker'));
    await create('a');
    await reaches('a', 'Failed');
    expect(await get('a')).toMatchObject({ state: 'could not run the image x because there is no Docker' });
    expect(await get('a')).not.toHaveProperty('startTime');
  });

  it('reveals no path of the host in its messages', async () => {
    const storage = join(rig.root, 'clusters/one');
    engine.launchErrors.push(new EngineError('UNAVAILABLE', `could not open '${storage}/volumes/mine/v'`));
    await create('a');
    await expect.poll(async () => (await get('a')).state).toContain("could not open '(storage)/volumes/mine/v'");
    engine.launchErrors.push(new EngineError('REFUSED', `nothing is at ${storage}/x`));
    await create('b');
    await reaches('b', 'Failed');
    expect((await get('b')).state).toBe('nothing is at (storage)/x');
  });

  it('cancel: of an uncertain launch asks for its state', async () => {
    engine.launchErrors.push(new EngineError('UNAVAILABLE', 'no answer'));
    await create('a');
    await expect.poll(() => engine.asked.length).toBe(1);
    await service.containers.cancel(ref('a'));
    await rig.clock.advance(1000);
    await reaches('a', 'Canceled');
  });

  it('open: does not affect other clusters, and is adopted when it becomes available', async () => {
    await create('a');
    await launched('a');
    engine.openError = new EngineError('UNAVAILABLE', 'the daemon is not running');
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
    expect(await phase('a')).toBe('Pending');
    await expect(create('b')).rejects.toMatchObject({ code: 'UNAVAILABLE', reason: 'ENGINE_UNAVAILABLE' });
    engine.openError = undefined;
    await expect.poll(() => createLater('b')).toBe('created');
    engine.run('a');
    expect(await phase('a')).toBe('Running');
  });

  it('cancel and delete: before it is opened, stop containers of an earlier service', async () => {
    for (const id of ['a', 'b']) {
      await create(id);
      await launched(id);
      engine.run(id);
    }
    engine.openError = new EngineError('UNAVAILABLE', 'the daemon is not running');
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
    await service.containers.cancel(ref('a'));
    const deleted = service.containers.delete(ref('b'));
    engine.openError = undefined;
    await rig.clock.advance(500);
    await reaches('a', 'Canceled');
    await deleted;
    expect(engine.stopped.map(({ graceMs }) => graceMs).sort()).toEqual([0, 2000]);
  });

  it('open: is called only once, however often recovery fails', async () => {
    await create('a');
    await launched('a');
    engine.recoverErrors.push(new EngineError('UNAVAILABLE', 'no answer'), new EngineError('UNAVAILABLE', 'no answer'));
    engine.opened = 0;
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
    await expect.poll(() => createLater('b')).toBe('created');
    expect(engine.opened).toBe(1);
  });

  it('open: treats no container as never started while the storage is unavailable', async () => {
    await create('a');
    await launched('a');
    const storage = join(rig.root, 'clusters/one');
    await rig.service.close();
    renameSync(storage, `${storage}-away`);
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
    await expect(create('b')).rejects.toMatchObject({ message: expect.stringContaining('mount it') });
    expect(existsSync(storage)).toBe(false);
    renameSync(`${storage}-away`, storage);
    await rig.clock.advance(500);
    await expect.poll(() => create('b').then(() => 'created')).toBe('created');
    engine.run('a');
    expect(await phase('a')).toBe('Running');
    expect(engine.asked.filter(({ containerID }) => containerID === 'a')).toHaveLength(1);
  });

  it('cancel: ends a slow launch', async () => {
    engine.isSlow = true;
    await create('a');
    await expect.poll(() => engine.asked.length).toBe(1);
    await service.containers.cancel(ref('a'));
    await reaches('a', 'Canceled');
    expect(await get('a')).toMatchObject({ state: 'canceled before it was started' });
  });

  it('close: does not wait for slow launches or for retries', async () => {
    engine.launchErrors.push(new EngineError('UNAVAILABLE', 'no answer'));
    await create('a');
    await expect.poll(() => engine.asked.length).toBe(1);
    engine.isSlow = true;
    await create('b');
    await expect.poll(() => engine.asked.length).toBe(2);
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
    engine.isSlow = false;
    for (const id of ['a', 'b']) await launched(id);
  });
});

describe('restart', () => {
  it('absent: relaunches under a new key a container that provably never started', async () => {
    await create('a');
    await launched('a');
    const [old] = engine.launched.keys();
    engine.launched.clear();
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
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
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
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
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
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
    await rig.restart();
    service = rig.service.inProcess(PRINCIPAL);
    await expect(get('a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect.poll(() => existsSync(directory)).toBe(false);
  });

  it('is refused while another process serves the root', async () => {
    const { createService } = await import('../../src/service/service.ts');
    const { embeddedConfig } = await import('../../src/config/embedded-config.ts');
    await expect(createService({ config: embeddedConfig({ root: rig.root }) })).rejects.toMatchObject({
      code: 'STORE_IN_USE',
    });
  });
});

describe('retention', () => {
  const DAY = 86_400_000;

  it('removes the record, the directory and the reservation of the ID', async () => {
    await create('a');
    await launched('a');
    engine.end('a', undefined, rig.clock.now());
    await reaches('a', 'Succeeded');
    const containers = join(rig.root, 'clusters/one/containers');
    expect(readdirSync(containers)).toHaveLength(1);
    await rig.clock.advance(7 * DAY - 1);
    await expect(create('a')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await rig.clock.advance(601_000);
    await expect(get('a')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(readdirSync(containers)).toHaveLength(0);
    await create('a');
  });

  it('removes a deleted volume, which undelete restores until then', async () => {
    const volume = { ...SCOPE, id: 'v' };
    await service.volumes.create(SCOPE, { volumeID: 'v' });
    await service.volumes.delete(volume);
    await rig.clock.advance(6 * DAY);
    await service.volumes.undelete(volume);
    await service.volumes.delete(volume);
    await rig.clock.advance(6 * DAY);
    await service.volumes.undelete(volume);
    await service.volumes.delete(volume);
    await rig.clock.advance(8 * DAY);
    await expect(service.volumes.undelete(volume)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(existsSync(join(rig.root, 'clusters/one/volumes/mine/v'))).toBe(false);
    await service.volumes.create(SCOPE, { volumeID: 'v' });
  });
});

describe('concurrent deletions', () => {
  it.each<[string, () => Promise<void>, () => boolean]>([
    [
      'a container',
      () => service.containers.delete(ref('a')),
      () => onDisk.get(TABLES.containerIDs, idKey(ref('a'))) === undefined,
    ],
    [
      'a volume, by force',
      () => service.volumes.delete(ref('a'), { force: true }),
      () => onDisk.get(TABLES.volumes, onDisk.get(TABLES.volumeIDs, idKey(ref('a'))) ?? '')?.phase !== 'Available',
    ],
    [
      'a volume',
      () => service.volumes.delete(ref('a')),
      () => onDisk.get(TABLES.volumes, onDisk.get(TABLES.volumeIDs, idKey(ref('a'))) ?? '')?.phase === 'Deleting',
    ],
  ])('of %s resolve when the removal is durable', async (_, remove, isLasting) => {
    await create('a');
    await service.volumes.create(SCOPE, { volumeID: 'a' });
    onDisk = openLmdbStore(join(rig.root, 'store'), Object.values(TABLES));
    const answers: Promise<boolean>[] = [];
    // Each starts slightly later, so that some find a removal that is not yet durable.
    for (let i = 0; i < 20; i++) {
      answers.push(remove().then(isLasting, isLasting));
      await Promise.resolve();
    }
    expect(new Set(await Promise.all(answers))).toEqual(new Set([true]));
    await onDisk.close();
  });
  /** What another process would read. */
  let onDisk: Store;
});

describe('a log', () => {
  it('is rejected while its storage is unavailable, instead of reported as empty', async () => {
    await create('a');
    await launched('a');
    appendFileSync(engine.launchOf('a').logPath, 'kept\n');
    const containers = join(rig.root, 'clusters/one/containers');
    renameSync(containers, `${containers}-away`);
    const read = async () => {
      let text = '';
      for await (const bytes of service.containers.logs(ref('a'))) text += Buffer.from(bytes).toString();
      return text;
    };
    await expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE', reason: 'STORAGE_UNAVAILABLE' });
    renameSync(`${containers}-away`, containers);
    expect(await read()).toBe('kept\n');
  });
});

describe('volumes in use', () => {
  it('reject forced deletion and, after an ordinary deletion, new mounts', async () => {
    const volume = { ...SCOPE, id: 'v' };
    await service.volumes.create(SCOPE, { volumeID: 'v' });
    await create('a', { volumeMounts: { 'v:in/put:dir': '/in' } });
    await launched('a');
    expect(engine.launchOf('a').mounts).toEqual([
      {
        root: join(rig.root, 'clusters/one/volumes/mine/v'),
        subPath: 'in/put',
        kind: 'dir',
        target: '/in',
        readOnly: false,
      },
    ]);
    await expect(service.volumes.delete(volume, { force: true })).rejects.toMatchObject({ reason: 'VOLUME_MOUNTED' });
    await service.volumes.delete(volume);
    await expect(create('b', { volumeMounts: { v: '/v' } })).rejects.toMatchObject({ reason: 'VOLUME_NOT_AVAILABLE' });
    engine.end('a');
    await reaches('a', 'Succeeded');
    await service.volumes.delete(volume, { force: true });
    expect(existsSync(join(rig.root, 'clusters/one/volumes/mine/v'))).toBe(false);
  });
});
