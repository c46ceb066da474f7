import { describe, expect, test } from 'vitest';
import { launchInDoomedProcess } from './doomed-process.ts';
import type { EngineRig } from './engine-rig.ts';
import type { EngineUnderTest } from './engine-under-test.ts';

/** What a service finds out after its restart. */
export function describeRecovery(rig: EngineRig, subject: EngineUnderTest): void {
  const gated = async (name: string) => {
    const volume = await rig.makeDirectory(name);
    const script =
      'echo started >> /v/starts; while [ ! -e /v/gate ]; do sleep 0.05; done; echo ended; echo over > /v/over; exit $(cat /v/gate)';
    return await rig.prepare({
      command: ['sh', '-c', script],
      mounts: [{ root: volume, subPath: '', kind: 'dir', target: '/v' }],
    });
  };

  describe('recover', () => {
    test('takes up a container that ran on, and sees its end', async () => {
      const container = await gated('on');
      await rig.engine.launch(container.launch);
      await container.seen('running');
      await rig.leave();
      container.forget();
      await rig.start();
      await rig.engine.recover([container.launch]);
      await container.seen('running');
      await rig.write('on/gate', '5');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 5 });
      expect(await container.text()).toBe('ended\n');
      expect(await rig.read('on/starts')).toBe('started\n');
    });

    test('learns of an end that nobody saw', async () => {
      const container = await gated('away');
      await rig.engine.launch(container.launch);
      await container.seen('running');
      await rig.leave();
      container.forget();
      await rig.write('away/gate', '9');
      await rig.untilFile('away/over');
      await rig.start();
      await rig.engine.recover([container.launch]);
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 9 });
    });

    test('stops a container that an earlier service launched', async () => {
      const container = await rig.launch({ command: ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'] });
      await container.seen('running');
      await rig.leave();
      container.forget();
      await rig.start();
      await rig.engine.recover([container.launch]);
      await rig.engine.stop(container.launch.key, { graceMs: 200 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
    });

    test('says absent of what was never launched, and it can be launched then', async () => {
      const container = await gated('absent');
      await rig.engine.recover([container.launch]);
      await container.seen('absent');
      container.forget();
      await rig.write('absent/gate', '0');
      await rig.engine.launch(container.launch);
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await rig.read('absent/starts')).toBe('started\n');
    });

    test('a launch whose answer was lost finds its container', async () => {
      const container = await gated('lost');
      await rig.engine.launch(container.launch);
      await container.seen('running');
      await rig.leave();
      container.forget();
      await rig.start();
      await rig.engine.launch(container.launch);
      await rig.write('lost/gate', '8');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 8 });
      expect(await rig.read('lost/starts')).toBe('started\n');
    });

    test('a service killed with -9 loses nothing and starts nothing twice', async () => {
      const containers = await Promise.all([0, 1, 2, 3].map((index) => gated(`killed-${index}`)));
      const late = await gated('killed-late');
      await launchInDoomedProcess(
        subject,
        containers.map((container) => container.launch),
      );
      await rig.write('killed-1/gate', '1');
      await rig.untilFile('killed-1/over');
      await rig.leave();
      await rig.start();
      await rig.engine.recover([...containers, late].map((container) => container.launch));
      await late.seen('absent');
      for (const index of [0, 2, 3]) await rig.write(`killed-${index}/gate`, String(index));
      for (const [index, container] of containers.entries()) {
        expect(await container.end()).toEqual({ kind: 'exited', exitCode: index });
        expect(await rig.read(`killed-${index}/starts`)).toBe('started\n');
      }
    });

    test('reports again what it is asked for again', async () => {
      const container = await rig.run('exit 2');
      await rig.engine.recover([container.launch]);
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 2 });
    });
  });
}
