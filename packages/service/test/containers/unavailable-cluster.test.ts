import { appendFileSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EngineError } from '../../src/engines/engine.ts';
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

/** Advances the clock by 500 ms, then tries to create the container. */
const createLater = async (id: string) => {
  await rig.clock.advance(500);
  return create(id).then(
    () => 'created',
    () => 'rejected',
  );
};

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
    engine.launchErrors.push(new EngineError('REJECTED', 'could not run the image x because there is no Docker'));
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
    engine.launchErrors.push(new EngineError('REJECTED', `nothing is at ${storage}/x`));
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
    await restart();
    expect(await phase('a')).toBe('Pending');
    await expect(create('b')).rejects.toMatchObject({ code: 'UNAVAILABLE', reason: 'ENGINE_UNAVAILABLE' });
    engine.openError = undefined;
    await expect.poll(() => createLater('b')).toBe('created');
    engine.run('a');
    expect(await phase('a')).toBe('Running');
  });

  it('resolveImage: is rejected at once, without a question to the engine', async () => {
    engine.openError = new EngineError('UNAVAILABLE', 'the daemon is not running');
    await restart();
    let asked = 0;
    engine.resolveImage = async () => {
      asked++;
      return new Promise<string>(() => {});
    };
    const resolving = service.discovery.resolveImage?.({ clusterID: 'one', accountID: 'mine' }, 'debian');
    await expect(resolving).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('the daemon is not running'),
    });
    expect(asked).toBe(0);
  });

  it('cancel and delete: before it is opened, stop containers of an earlier service', async () => {
    for (const id of ['a', 'b']) {
      await create(id);
      await launched(id);
      engine.run(id);
    }
    engine.openError = new EngineError('UNAVAILABLE', 'the daemon is not running');
    await restart();
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
    await restart();
    await expect.poll(() => createLater('b')).toBe('created');
    expect(engine.opened).toBe(1);
  });

  it('open: treats no container as never started while the storage is unavailable', async () => {
    await create('a');
    await launched('a');
    const storage = join(rig.root, 'clusters/one');
    await rig.service.close();
    renameSync(storage, `${storage}-away`);
    await restart();
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
    await restart();
    engine.isSlow = false;
    for (const id of ['a', 'b']) await launched(id);
  });
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
