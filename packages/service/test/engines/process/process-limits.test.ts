import { existsSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';
import { copyLauncher, isBuilt, isRoot } from './copied-launcher.ts';

const hasGroups = isRoot && hasNamespaces && isBuilt && existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes');
const { launcherPath, remove } = await copyLauncher();
afterAll(remove);

const memoryBytes = 48 * 2 ** 20;
const limits = { memoryBytes, cores: 0.5 };
/** Prints the container's own limits and where its cgroups are. */
const script = `
memory=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
cpu=/sys/fs/cgroup/cpu$(sed -n 's/^[0-9]*:cpu://p' /proc/self/cgroup)
cat $memory/memory.limit_in_bytes $memory/memory.swappiness $cpu/cpu.cfs_quota_us $cpu/cpu.cfs_period_us
echo $memory $cpu`;

describe.runIf(hasGroups)('limits of a process container', () => {
  const rig = new EngineRig(() => createProcessEngine({ launcherPath, launcher: 'native', mountsBy: 'namespaces' }));
  beforeAll(() => rig.open());
  afterAll(() => rig.close());

  async function look(limits: { memoryBytes: number; cores: number }) {
    const lines = (await (await rig.run(script, { limits })).text()).trim().split('\n');
    const [memory, cpu] = (lines.pop() ?? '').split(' ') as [string, string];
    return { limits: lines, memory, cpu };
  }

  test('hold for the next container, too, where something has changed those of the cgroup meanwhile', async () => {
    const wanted = [String(memoryBytes), '0', '50000', '100000'];
    for (const [controller, file, value] of [
      ['memory', 'memory.limit_in_bytes', '-1'],
      ['memory', 'memory.swappiness', '60'],
      ['cpu', 'cpu.cfs_quota_us', '-1'],
      ['cpu', 'cpu.cfs_period_us', '50000'],
    ] as const) {
      const before = await look(limits);
      expect(before.limits).toEqual(wanted);
      writeFileSync(join(before[controller], file), value);
      // Another one may be idle, too, and be taken first.
      while (existsSync(before[controller])) expect((await look(limits)).limits).toEqual(wanted);
    }
  });

  test('are those of each container, whichever its cgroup had before', async () => {
    for (const [count, cores] of [1, 0.25, 0.5, 0.25].entries()) {
      const quota = cores < cpus().length ? String(cores * 100_000) : '-1';
      const bytes = memoryBytes * (1 + (count % 2)) + 1;
      const wanted = [String(memoryBytes * (1 + (count % 2))), '0', quota, '100000'];
      expect((await look({ memoryBytes: bytes, cores })).limits).toEqual(wanted);
    }
  });
});
