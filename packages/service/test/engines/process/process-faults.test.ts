import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../../../src/engines/engine.ts';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { probeProcess } from '../../../src/engines/process/process-probe.ts';
import { EngineRig, type RigContainer } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';
import { expectEndOnFullDisk } from '../on-full-disk.ts';
import { copyLauncher } from './copied-launcher.ts';

const launcherPath = fileURLToPath(new URL('../../../native/build/launcher', import.meta.url));
/** Without a C compiler there is no native launcher; where everything is tested that is a fault. */
const isBuilt = existsSync(launcherPath) || process.env.CI === 'true';
/** In a Docker container they are there to read. */
const hasLegacyGroups =
  process.geteuid?.() === 0 && spawnSync('test', ['-w', '/sys/fs/cgroup/memory/memory.limit_in_bytes']).status === 0;
const compiler = process.env.CC ?? 'cc';
const hasCompiler = process.env.CI === 'true' || spawnSync(compiler, ['--version']).status === 0;

const WAYS = hasNamespaces ? (['namespaces', 'translation'] as const) : (['translation'] as const);

describe.skipIf(!isBuilt).each(WAYS)('Process engine by %s, when what it stands on fails', (mountsBy) => {
  const isIsolated = mountsBy === 'namespaces';
  const masked: string[] = [];
  const create = (): Engine =>
    createProcessEngine({ launcherPath, launcher: 'native', mountsBy }, { maskedPaths: masked });
  const rig = new EngineRig(create);

  beforeAll(async () => {
    masked.push(await mkdtemp('/var/tmp/sluice-masked-'));
    await writeFile(join(masked[0]!, 'secret'), 'of the service');
    await rig.open();
  });
  afterAll(async () => {
    await rig.close();
    await rm(masked[0]!, { recursive: true, force: true, maxRetries: 10 });
  });

  const gated = async (name: string): Promise<RigContainer> => {
    const root = await rig.makeDirectory(name);
    const script = 'echo up; while [ ! -e /v/gate ]; do sleep 0.05; done; exit $(cat /v/gate)';
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    return await rig.prepare({ command: ['sh', '-c', script], mounts });
  };

  test.runIf(isIsolated)('a masked path that comes to be there later is empty too', async () => {
    const late = `${masked[0]}-late`;
    const engine = new EngineRig(() =>
      createProcessEngine({ launcherPath, launcher: 'native' }, { maskedPaths: [`${late}/storage`] }),
    );
    await engine.open();
    expect(await (await engine.run(`ls ${late} 2>&1 | wc -l`)).end()).toEqual({ kind: 'exited', exitCode: 0 });
    await mkdir(`${late}/storage`, { recursive: true });
    await writeFile(`${late}/storage/secret`, 'of another account');
    const container = await engine.run(`ls -A ${late} ${late}/storage; cat ${late}/storage/secret`);
    expect(await container.text()).not.toContain('of another account');
    await engine.close();
    await rm(late, { recursive: true, force: true, maxRetries: 10 });
  });

  test.runIf(isIsolated)('masked paths are empty, also as the root user', async () => {
    const container = await rig.run(`ls -A ${masked[0]} && echo x > ${masked[0]}/y`);
    expect(await container.end()).not.toMatchObject({ exitCode: 0 });
    expect(await container.text()).not.toContain('secret');
  });

  test.runIf(hasNamespaces && process.geteuid?.() === 0).each(['bytes', 'inodes'] as const)(
    'knows how a container ended that has used up the %s of its disk',
    async (what) => {
      const makeRig = (directory: string) => new EngineRig(create, { directory });
      await expectEndOnFullDisk(makeRig, what);
    },
  );

  test.runIf(isIsolated)(
    'a user namespace without the own group is rejected by name, not by a file that could not be made',
    async () => {
      const prefix = ['unshare', '--user', '--map-user=0'];
      const probe = await probeProcess({ launcherPath, mountsBy: 'namespaces', launcher: 'native', prefix });
      expect(probe).toMatchObject({
        works: false,
        reason: expect.stringContaining('its user namespace maps only one'),
      });
    },
  );

  test.runIf(isIsolated && hasCompiler)('a container cannot make its end look like a stop', async () => {
    const root = await rig.makeDirectory('forge');
    const source = fileURLToPath(new URL('./forge-stop.c', import.meta.url));
    const made = spawnSync(compiler, ['-o', join(root, 'forge'), source], { encoding: 'utf8' });
    expect(made).toMatchObject({ status: 0 });
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.launch({ command: ['/v/forge'], mounts });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 7 });
  });

  test.each([
    ['#!/no/such/interpreter\n', 0o755, /interpreter that its first line names.*127/],
    ['#!/bin/sh\r\n', 0o755, /carriage return/],
    ['echo\n', 0o755, /no script whose first line names an interpreter.*126/],
    ['#!/bin/sh\n', 0o644, /executable \(chmod \+x\).*126/],
  ])('says what to do about a script %j of mode %o', async (text, mode, words) => {
    const root = await rig.makeDirectory('scripts-to-run');
    await rig.write('scripts-to-run/it', text, mode);
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.launch({ command: ['/v/it'], mounts });
    expect(await container.end()).toMatchObject({ kind: 'rejected', reason: expect.stringMatching(words) });
  });

  test.runIf(hasLegacyGroups)(
    'what a dead launcher of the same number has left in its cgroups limits no container',
    async () => {
      // The first slot is still in use; in both the memory ran out once.
      const script = `
      own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
      for slot in 1 2; do
        group=/sys/fs/cgroup/memory$own/sluice/$$-$slot
        mkdir -p "$group" && echo 4M > "$group/memory.limit_in_bytes" && echo 0 > "$group/memory.swappiness"
        sh -c 'echo 0 > "$0/cgroup.procs"; exec tail /dev/zero' "$group"
        grep -q 'oom_kill [1-9]' "$group/memory.oom_control" || exit 9
        if [ $slot = 1 ]; then sh -c 'echo 0 > "$0/cgroup.procs"; exec sleep 600' "$group" </dev/null >/dev/null 2>&1 & echo $! > "$0"; fi
      done
      exec "$@"`;
      const note = join(rig.directory, 'sleeper');
      const prefix = ['sh', '-c', script, note];
      const other = new EngineRig(() => createProcessEngine({ launcherPath, launcher: 'native', mountsBy, prefix }));
      await other.open();
      const container = await other.run('exit 3', { limits: { memoryBytes: 512 * 2 ** 20 } });
      process.kill(Number(await readFile(note, 'utf8')), 'SIGKILL');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 3 });
      await other.close();
    },
  );

  test('a launcher killed with -9 takes no container with it and is replaced', async () => {
    const [one, other] = [await gated('one'), await gated('other')];
    await Promise.all([one, other].map((container) => rig.engine.launch(container.launch)));
    await rig.untilLog(one, 'up');
    await rig.untilLog(other, 'up');
    for (const pid of await launchers()) killLauncher(pid);
    await rig.write('one/gate', '3');
    expect(await one.end()).toEqual({ kind: 'exited', exitCode: 3 });
    expect(await (await rig.run('exit 5')).end()).toEqual({ kind: 'exited', exitCode: 5 });
    await rig.engine.stop(other.launch.key, { graceMs: 100 });
    expect(await other.end()).toEqual({ kind: 'stopped' });
  });

  test('stops that come before, while and after a killed launcher is replaced reach every container, once', async () => {
    const script = 'trap "echo asked" TERM; echo up; while [ ! -e /v/gate ]; do sleep 0.05; done';
    const root = await rig.makeDirectory('asked');
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const wanted = { command: ['sh', '-c', script], mounts, limits: { cores: 0.1 } };
    const containers = await Promise.all(Array.from({ length: 24 }, () => rig.launch(wanted)));
    for (const container of containers) await rig.untilLog(container, 'up');
    const stop = ({ launch }: RigContainer) => rig.engine.stop(launch.key, { graceMs: 600_000 });
    await Promise.all(containers.slice(0, 8).map(stop));
    for (const pid of await launchers()) killLauncher(pid);
    for (const container of containers.slice(8)) {
      void stop(container);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const container of containers) await rig.untilLog(container, 'asked');
    await rig.write('asked/gate', '');
    for (const container of containers) {
      expect(await container.end()).toEqual({ kind: 'stopped' });
      expect(await container.text()).toBe('up\nasked\n');
    }
  });

  test('a stop with less grace shortens that of an earlier one, also where the launcher was killed between', async () => {
    const script = 'trap "" TERM; echo up; while :; do sleep 1; done';
    const containers = await Promise.all([0, 1].map(() => rig.launch({ command: ['sh', '-c', script] })));
    for (const container of containers) await rig.untilLog(container, 'up');
    for (const { launch } of containers) await rig.engine.stop(launch.key, { graceMs: 600_000 });
    const [one, other] = containers as [RigContainer, RigContainer];
    await rig.engine.stop(one.launch.key, { graceMs: 0 });
    expect(await one.end()).toEqual({ kind: 'stopped' });
    for (const pid of await launchers()) killLauncher(pid);
    await rig.engine.stop(other.launch.key, { graceMs: 0 });
    expect(await other.end()).toEqual({ kind: 'stopped' });
  });

  test('closing while a killed launcher is being replaced leaves no launcher behind', async () => {
    const copy = await copyLauncher();
    const prefix = ['sh', '-c', 'sleep 0.2; exec "$@"', 'sh'];
    const engine = createProcessEngine({ launcherPath: copy.launcherPath, launcher: 'native', mountsBy, prefix });
    await engine.open({ report: () => {} });
    // The command line of a process may read as empty for a moment.
    const own = await vi.waitUntil(async () => (await launchers(copy.launcherPath))[0], { timeout: 120_000 });
    killLauncher(own);
    await vi.waitUntil(() => !existsSync(`/proc/${own}`), { timeout: 120_000, interval: 1 });
    await engine.close();
    expect(await launchers(copy.launcherPath)).toEqual([]);
    await copy.remove();
  });

  test('the engine announces the same while a launcher is being replaced', async () => {
    const copy = await copyLauncher();
    const gate = join(rig.directory, 'launcher-gate');
    await writeFile(gate, '');
    const prefix = ['sh', '-c', `while [ ! -e '${gate}' ]; do sleep 0.05; done; exec "$@"`, 'sh'];
    const engine = createProcessEngine({ launcherPath: copy.launcherPath, launcher: 'native', mountsBy, prefix });
    await engine.open({ report: () => {} });
    try {
      const announced = { features: engine.features, warnings: engine.warnings?.() };
      expect(announced.features).toEqual(['multi-node', ...(isIsolated ? ['read-only-mounts'] : [])]);
      expect(announced.warnings).toHaveLength(isIsolated ? 0 : 1);
      const first = await vi.waitUntil(async () => (await launchers(copy.launcherPath))[0], { timeout: 120_000 });
      await rm(gate);
      killLauncher(first);
      // The replacement waits at the gate.
      await vi.waitUntil(async () => (await launchers(copy.launcherPath)).some((pid) => pid !== first), {
        timeout: 120_000,
      });
      expect({ features: engine.features, warnings: engine.warnings?.() }).toEqual(announced);
    } finally {
      await writeFile(gate, '');
      await engine.close();
      await copy.remove();
    }
  });

  test('a first process killed from outside ends its container as a fault', async () => {
    const container = await gated('first');
    await rig.engine.launch(container.launch);
    await rig.untilLog(container, 'up');
    const [pid] = (await readlink(join(container.launch.directory, 'claim'))).split(' ');
    process.kill(Number(pid), 'SIGKILL');
    expect(await container.end()).toMatchObject({ kind: 'fault', reason: expect.stringContaining('no exit record') });
  });

  test('a claim of another boot, of a process that is no more, and one that cannot be read are faults', async () => {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).replaceAll('-', '').slice(0, 16);
    for (const claim of ['1 1 0123456789abcdef', `${process.pid} 1 ${boot}`, 'nonsense']) {
      const container = await gated('old');
      await symlink(claim, join(container.launch.directory, 'claim'));
      await rig.engine.recover([container.launch]);
      expect(await container.end(), claim).toMatchObject({ kind: 'fault' });
    }
  });

  test('what was said to be absent cannot be started by a launcher that is late', async () => {
    const container = await gated('late');
    await rig.engine.recover([container.launch]);
    await container.seen('absent');
    expect(await readlink(join(container.launch.directory, 'claim'))).toBe('absent');
  });

  test('where nothing works, open says what to do', async () => {
    const engine = createProcessEngine({ launcher: 'native', launcherPath: '/nowhere/launcher' });
    const error = await engine.open({ report: () => {} }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      name: 'EngineError',
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/nowhere.*user namespaces/s),
    });
    expect(await probeProcess({ launcher: 'native', launcherPath: '/nowhere/launcher' })).toMatchObject({
      works: false,
    });
  });

  test.runIf(isIsolated)('a missing launcher is stood in for by the shell', async () => {
    const probe = await probeProcess({ launcherPath });
    expect(probe).toMatchObject({ works: true, launcher: 'native' });
    const scripts = join(rig.directory, 'scripts');
    await mkdir(join(scripts, 'build'), { recursive: true });
    for (const name of ['launcher.sh', 'container.sh']) {
      await writeFile(join(scripts, name), await readFile(join(launcherPath, '..', '..', name)));
    }
    expect(await probeProcess({ launcherPath: join(scripts, 'build', 'launcher') })).toMatchObject({
      works: true,
      launcher: 'shell',
    });
  });
});

/** One also ends by itself when another test mounts something. */
function killLauncher(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The native launchers that are children of this process, also those that a prefix is about to start. */
async function launchers(path = launcherPath): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (parent === process.pid && command.includes(path)) found.push(Number(name));
  }
  return found;
}
