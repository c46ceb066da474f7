import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ProcessConfig } from '../../../src/engines/process/process-config.ts';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';

const launcherPath = fileURLToPath(new URL('../../../native/build/launcher', import.meta.url));
const isBuilt = existsSync(launcherPath) || process.env.CI === 'true';
const canMount = hasNamespaces && process.geteuid?.() === 0;

/** As most machines are, and as containers and small machines are: there no mount is propagated. */
const WAYS = [
  ['native', 'shared'],
  ['native', 'private'],
  ['shell', 'private'],
] as const;

describe.skipIf(!isBuilt || !canMount).each(WAYS)('process engine, %s launcher, %s mounts of the host', (...way) => {
  const [launcher, propagation] = way;
  let host: ChildProcess;
  let rig: EngineRig;
  let place: string;

  beforeAll(async () => {
    host = spawn('unshare', ['--mount', '--propagation', propagation, 'sleep', 'infinity'], { stdio: 'ignore' });
    const own = readlinkSync('/proc/self/ns/mnt');
    await vi.waitUntil(() => readlinkSync(`/proc/${host.pid}/ns/mnt`) !== own && commandOf(host) === 'sleep', {
      timeout: 120_000,
    });
    place = await mkdtemp('/var/tmp/sluice-late-');
    for (const name of ['disk', 'data']) await mkdir(join(place, name));
    const config: ProcessConfig = {
      launcherPath,
      launcher,
      mountsBy: 'namespaces',
      prefix: ['nsenter', `--mount=/proc/${host.pid}/ns/mnt`],
    };
    rig = new EngineRig(() => createProcessEngine(config, { maskedPaths: [join(place, 'data/storage')] }));
    await rig.open();
  });
  afterAll(async () => {
    await rig?.close();
    host?.kill('SIGKILL');
    await rm(place, { recursive: true, force: true });
  });

  const onHost = (...command: string[]) =>
    execFileSync('nsenter', [`--mount=/proc/${host.pid}/ns/mnt`, ...command], { encoding: 'utf8' }).trim();
  const text = async (script: string) => (await rig.run(script)).text();

  test('a container sees what was mounted before its start, read-only, and not what was unmounted', async () => {
    const disk = join(place, 'disk');
    expect(await text(`ls ${disk}`)).toBe('');
    onHost('mount', '-t', 'tmpfs', 'tmpfs', disk);
    onHost('sh', '-c', `echo mounted > ${disk}/file`);
    const script = `cat ${disk}/file; echo x 2>/dev/null > ${disk}/new || echo read-only`;
    expect(await text(script)).toBe('mounted\nread-only\n');
    onHost('umount', disk);
    expect(await text(`ls ${disk}`)).toBe('');
  });

  test('what is unmounted is let go of, also while containers run that were started later', async () => {
    const disk = join(place, 'disk');
    const image = join(await mkdtemp(join(tmpdir(), 'sluice-image-')), 'disk');
    onHost('sh', '-c', `truncate --size=4M ${image} && mkfs.ext4 -q ${image}`);
    const device = onHost('losetup', '--find', '--show', image);
    try {
      onHost('mount', device, disk);
      const during = await rig.run(`ls -A ${disk}`);
      expect(await during.text()).toBe('lost+found\n');
      onHost('umount', disk);
      const after = await rig.launch({ command: ['sleep', '600'] });
      await after.seen('running');
      await vi.waitUntil(() => isFree(device), { timeout: 120_000 });
      await rig.engine.stop(after.launch.key, { graceMs: 0 });
      await after.end();
    } finally {
      onHost('losetup', '--detach', device);
      await rm(join(image, '..'), { recursive: true });
    }
  });

  test('a container that runs keeps its view, and a masked path stays masked where a disk comes to be', async () => {
    const data = join(place, 'data');
    await rig.makeDirectory('gate');
    const mounts = [{ root: join(rig.directory, 'gate'), subPath: '', kind: 'dir' as const, target: '/v' }];
    const script = `while [ ! -e /v/go ]; do sleep 0.05; done; ls -A ${data} ${data}/storage`;
    const early = await rig.launch({ command: ['sh', '-c', script], mounts });
    await early.seen('running');
    onHost('mount', '-t', 'tmpfs', 'tmpfs', data);
    onHost('sh', '-c', `mkdir ${data}/storage; echo secret > ${data}/storage/secret; echo > ${data}/plain`);
    const late = await text(`ls -A ${data}; cat ${data}/storage/secret`);
    expect(late).toMatch(/plain/);
    expect(late).not.toMatch(/^secret$/m);
    await rig.write('gate/go', '');
    await early.end();
    expect(await early.text()).not.toMatch(/plain|secret/);
    onHost('umount', data);
  });

  test('what is mounted within a read-only volume during a container is not writable in it', async () => {
    const root = await rig.makeDirectory('input');
    const gate = await rig.makeDirectory('input-gate');
    await mkdir(join(root, 'inner'));
    const mounts = [
      { root, subPath: '', kind: 'dir' as const, target: '/in', readOnly: true },
      { root: gate, subPath: '', kind: 'dir' as const, target: '/v' },
    ];
    const script =
      'while [ ! -e /v/go ]; do sleep 0.05; done; echo changed 2>/dev/null > /in/inner/file || echo read-only';
    const container = await rig.launch({ command: ['sh', '-c', script], mounts });
    await container.seen('running');
    onHost('mount', '-t', 'tmpfs', 'tmpfs', join(root, 'inner'));
    await writeFile(join(gate, 'go'), '');
    await container.end();
    expect(await container.text()).toBe('read-only\n');
    expect(onHost('ls', '-A', join(root, 'inner'))).toBe('');
    onHost('umount', join(root, 'inner'));
  });
});

function commandOf({ pid }: ChildProcess): string {
  return execFileSync('cat', [`/proc/${pid}/comm`], { encoding: 'utf8' }).trim();
}

/** Whether no file system of the block device is mounted anywhere, in no namespace. */
function isFree(device: string): boolean {
  try {
    closeSync(openSync(device, constants.O_RDONLY | constants.O_EXCL));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return false;
    throw error;
  }
}
