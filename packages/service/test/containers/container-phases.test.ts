import { describe, expect, it } from 'vitest';
import type { End } from '../../src/engines/engine.ts';
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
    [{ kind: 'exited', exitCode: 143, timedOut: true }, 'Failed', 'time limit exceeded (exit code 143)'],
    [{ kind: 'exited', exitCode: 0, timedOut: true }, 'Failed', 'time limit exceeded (exit code 0)'],
    [{ kind: 'rejected', reason: 'no such image' }, 'Failed', 'no such image'],
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
    await restart();
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

  it('is given to the values of the label sluice-run in turn', async () => {
    const of = (run: string) => ({ instanceType: 'big', labels: { 'sluice-run': run } });
    for (const id of ['a1', 'a2', 'a3']) await create(id, of('a'));
    await create('b1', of('b'));
    expect(await get('b1')).toMatchObject({ state: 'queued in cluster one behind 1 other' });
    expect(await get('a3')).toMatchObject({ state: 'queued in cluster one behind 2 others' });
    for (const id of ['a1', 'a2', 'b1', 'a3']) {
      await launched(id);
      engine.end(id);
    }
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
    await restart();
    expect(await get('big')).toMatchObject({ phase: 'Running' });
    await expect.poll(async () => (await get('s1')).state).toBe('waiting for 1 core of cluster one (0 free)');
    engine.end('big');
    await launched('s1');
  });
});
