import { describe, expect, test } from 'vitest';
import type { EngineRig } from './engine-rig.ts';

/** Ending before the command does, and leaving nothing behind. */
export function describeStop(rig: EngineRig): void {
  describe('stop', () => {
    test('ends a container that would run on', async () => {
      const container = await rig.launch({ command: ['sleep', '600'] });
      await container.seen('running');
      await rig.engine.stop(container.launch.key, { graceMs: 300 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
    });

    test('leaves the grace to clean up', async () => {
      const script = 'trap "echo cleaned; exit 0" TERM; echo ready; while :; do sleep 0.05; done';
      const container = await rig.launch({ command: ['sh', '-c', script] });
      await rig.untilLog(container, 'ready');
      await rig.engine.stop(container.launch.key, { graceMs: 20_000 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      expect(await container.text()).toBe('ready\ncleaned\n');
    });

    test('kills what ignores it after the grace, with all its children', async () => {
      const volume = await rig.makeDirectory('stubborn');
      const script =
        'trap "" TERM; (setsid sh -c "exec 9>/v/alive; while :; do sleep 1; done" &); echo ready; while :; do sleep 1; done';
      const alive = await rig.makeFifo('stubborn/alive');
      const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/v' }];
      const container = await rig.launch({ command: ['sh', '-c', script], mounts });
      await rig.untilLog(container, 'ready');
      const from = Date.now();
      await rig.engine.stop(container.launch.key, { graceMs: 400 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      expect(Date.now() - from).toBeGreaterThanOrEqual(390);
      await alive.closed;
    });

    test('called again with less grace, kills at once', async () => {
      const script = 'trap "echo asked" TERM; echo up; while :; do sleep 0.05; done';
      const container = await rig.launch({ command: ['sh', '-c', script] });
      await rig.untilLog(container, 'up');
      const patient = rig.engine.stop(container.launch.key, { graceMs: 600_000 });
      await rig.untilLog(container, 'asked');
      await rig.engine.stop(container.launch.key, { graceMs: 0 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      await patient;
    });

    test('is idempotent, also after the end and for what never was', async () => {
      const container = await rig.launch({ command: ['sleep', '600'] });
      const { key } = container.launch;
      await Promise.all([rig.engine.stop(key, { graceMs: 200 }), rig.engine.stop(key, { graceMs: 200 })]);
      expect(await container.end()).toEqual({ kind: 'stopped' });
      await rig.engine.stop(key, { graceMs: 200 });
      await rig.engine.stop('never-launched', { graceMs: 200 });
      await rig.engine.remove(key);
      await rig.engine.remove(key);
      await rig.engine.remove('never-launched');
      expect(container.observations.filter((one) => one.type === 'ended')).toHaveLength(1);
    });

    test('does not touch the verdict of a container that has ended', async () => {
      const container = await rig.run('exit 3');
      await rig.engine.stop(container.launch.key, { graceMs: 0 });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 3 });
    });
  });

  test('the end of the command is the end of every child that it left behind', async () => {
    const volume = await rig.makeDirectory('orphans');
    const alive = await rig.makeFifo('orphans/alive');
    const script =
      '(setsid sh -c "trap \\"\\" TERM HUP; exec 9>/v/alive; echo > /v/up; while :; do sleep 1; done" &); while [ ! -s /v/up ]; do sleep 0.02; done; exit 6';
    const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.launch({ command: ['sh', '-c', script], mounts });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 6 });
    await alive.closed;
  });
}
