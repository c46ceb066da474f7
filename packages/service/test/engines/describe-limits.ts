import { describe, expect, test } from 'vitest';
import type { EngineRig } from './engine-rig.ts';
import type { EngineUnderTest } from './engine-under-test.ts';

const memoryBytes = 48 * 2 ** 20;

/** CPU and memory of the instance type. */
export function describeLimits(rig: EngineRig, subject: EngineUnderTest): void {
  describe('limits', () => {
    test.runIf(subject.memoryLimit !== 'none')('more memory than allowed is not given', async () => {
      // tail keeps the whole of a line without end.
      const container = await rig.run('tail /dev/zero; code=$?; exit $code', { limits: { memoryBytes } });
      const end = await container.end();
      expect(end).toMatchObject({ kind: 'exited' });
      expect(end).not.toMatchObject({ exitCode: 0 });
      if (subject.memoryLimit === 'tree') expect(end).toMatchObject({ exitCode: 137, outOfMemory: true });
    });

    test.runIf(subject.memoryLimit === 'tree')('memory of all processes counts together', async () => {
      const one = 'head -c 30000000 /dev/zero | tail -c 29000000 | { sleep 0.5; wc -c; }';
      const container = await rig.run(`(${one}) & (${one}) & (${one}) & wait`, { limits: { memoryBytes } });
      const lines = (await container.text()).split('\n').filter((line) => line.trim() === '29000000');
      expect(lines.length).toBeLessThan(3);
    });

    test('a failure with memory to spare is not called out of memory', async () => {
      const end = await (await rig.run('exit 137', { limits: { memoryBytes } })).end();
      expect(end).toEqual({ kind: 'exited', exitCode: 137 });
    });

    test.runIf(subject.coreLimit)('one core is one core, however many processes want more', async () => {
      const script =
        'for i in 1 2 3; do timeout 1 sh -c "while :; do :; done" & done; wait; cat /proc/self/stat; times';
      const container = await rig.run(script, { limits: { cores: 1 } });
      const [user, system] = (await container.text()).trim().split('\n').at(-1)!.split(' ');
      expect(seconds(user) + seconds(system)).toBeLessThan(1.4);
    });
  });
}

/** `0m1.234s` */
function seconds(text: string | undefined): number {
  const match = /^(\d+)m([\d.]+)s$/.exec(text ?? '');
  if (match === null) throw new Error(`could not read '${text}' as a time`);
  return Number(match[1]) * 60 + Number(match[2]);
}
