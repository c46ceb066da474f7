import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';
import { copyLauncher, isBuilt, isRoot } from './copied-launcher.ts';

const hasGroups = isRoot && hasNamespaces && isBuilt && existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes');
const { launcherPath, remove } = await copyLauncher();
afterAll(remove);

const PATIENCE = { timeout: 120_000, interval: 20 };
const memoryBytes = 48 * 2 ** 20;
const limits = { memoryBytes, cores: 0.5 };
/** Prints the container's own limits and where its cgroups are. */
const script = `
memory=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
cpu=/sys/fs/cgroup/cpu$(sed -n 's/^[0-9]*:cpu://p' /proc/self/cgroup)
cat $memory/memory.limit_in_bytes $memory/memory.swappiness $cpu/cpu.cfs_quota_us $cpu/cpu.cfs_period_us
echo $memory $cpu`;

function processesOf(group: string): number[] {
  return readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
}

describe.runIf(hasGroups)('limits of a process container', () => {
  // On a machine whose mounts are private, a launcher ends when another test mounts something, and removes its cgroups.
  const prefix = ['unshare', '--mount'];
  const rig = new EngineRig(() =>
    createProcessEngine({ launcherPath, launcher: 'native', mountsBy: 'namespaces', prefix }),
  );
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

  test('hold for the next container, too, where the process that keeps the cgroup was killed', async () => {
    const before = await look(limits);
    await vi.waitUntil(() => processesOf(before.memory).length === 1, PATIENCE);
    process.kill(processesOf(before.memory)[0] ?? 0, 'SIGKILL');
    expect((await look(limits)).limits).toEqual(before.limits);
    expect(existsSync(before.memory)).toBe(false);
  });

  test('keep their cgroup where a launcher in another PID namespace shares the hierarchy', async () => {
    const own = new EngineRig(() =>
      createProcessEngine({ launcherPath, launcher: 'native', mountsBy: 'namespaces', prefix }),
    );
    await own.open();
    const lines = (await (await own.run(script, { limits })).text()).trim().split(/\s+/);
    const groups = lines.slice(-2);
    const processes = () => processesOf(groups[0] ?? '');
    // A process of the launcher is in the cgroup and keeps it from being removed; with cgroup v2 there is none.
    await vi.waitUntil(() => processes().length === 1, PATIENCE);
    process.kill(processes()[0] ?? 0, 'SIGKILL');
    await vi.waitUntil(() => processes().length === 0, PATIENCE);
    const inNamespace = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const inner = new EngineRig(() =>
      createProcessEngine({ launcherPath, launcher: 'native', mountsBy: 'namespaces', prefix: inNamespace }),
    );
    await inner.open();
    expect(await (await inner.run('true', { limits })).end()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(groups.map((group) => existsSync(group))).toEqual([true, true]);
    await inner.close();
    await own.close();
    expect(groups.map((group) => existsSync(group))).toEqual([false, false]);
  });

  test('leave no cgroup of a launcher that was killed, once another one starts', async () => {
    const child = new EngineRig(() =>
      createProcessEngine({ launcherPath, launcher: 'native', mountsBy: 'namespaces', prefix }),
    );
    await child.open();
    const lines = (await (await child.run(script, { limits })).text()).trim().split(/\s+/);
    const [memory = '', cpu = ''] = lines.slice(-2);
    expect([existsSync(memory), existsSync(cpu)]).toEqual([true, true]);
    process.kill(Number(/(\d+)-\d+$/.exec(memory)?.[1]), 'SIGKILL');
    await vi.waitUntil(async () => {
      const next = new EngineRig(() =>
        createProcessEngine({ launcherPath, launcher: 'native', mountsBy: 'namespaces' }),
      );
      await next.open();
      await next.close();
      return !existsSync(memory) && !existsSync(cpu);
    }, PATIENCE);
    await child.close();
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
