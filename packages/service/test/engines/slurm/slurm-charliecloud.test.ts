import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import type { EngineRig } from '../engine-rig.ts';
import { hasSlurm, slurmRig } from './slurm-rig.ts';

/** Programs of the image, all of them names of busybox. */
const APPLETS = ['sh', 'echo', 'env', 'cat', 'ls', 'sleep', 'printf'];

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('Slurm engine with charliecloud', () => {
  let rig: EngineRig;
  let image: string;

  beforeAll(async () => {
    const config = slurmConfigSchema.parse({ runtime: 'charliecloud', pollMs: 200, recordGraceMs: 2000 });
    rig = slurmRig({ partition: 'main' }, () => createSlurmEngine(config, { storage: tmpdir() }));
    await rig.open();
    image = join(rig.directory, 'an image');
    for (const name of ['bin', 'ch', 'data', 'dev', 'etc', 'home', 'proc', 'sys', 'tmp']) {
      mkdirSync(join(image, name), { recursive: true });
    }
    const busybox = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim();
    copyFileSync(busybox, join(image, 'bin/busybox'));
    for (const name of APPLETS) symlinkSync('busybox', join(image, 'bin', name));
    for (const name of ['passwd', 'group', 'hosts', 'resolv.conf']) writeFileSync(join(image, 'etc', name), '');
    writeFileSync(join(image, 'ch/environment'), 'OF_IMAGE=yes\nPATH=/bin\n');
  });
  afterAll(() => rig.close());

  it('runs the command in the image, with its own code, arguments and environment', async () => {
    const script = 'echo "$1|$OF_IMAGE|$GIVEN|$HOME|$SLURM_JOB_ID"; ls /tmp; exit 3';
    const env = { GIVEN: '$HOME: a\nb' };
    const command = ['sh', '-c', script, 'sh', `it's; $(id)`];
    const container = await rig.launch({ command, image, env });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 3 });
    expect(await container.text()).toBe(`it's; $(id)|yes|$HOME: a\nb|/tmp|\n`);
  });

  it('mounts a part of a volume, and nothing that lies outside of it', async () => {
    const root = await rig.makeDirectory('volume');
    mkdirSync(join(root, 'part'));
    symlinkSync('/etc', join(root, 'out'));
    const mount = { root, subPath: 'part', kind: 'dir' as const, target: '/data' };
    const command = ['sh', '-c', 'echo kept > /data/file'];
    expect(await (await rig.launch({ command, image, mounts: [mount] })).end()).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(root, 'part/file'), 'utf8')).toBe('kept\n');
    const outside = await rig.launch({ command, image, mounts: [{ ...mount, subPath: 'out' }] });
    expect(await outside.end()).toEqual({ kind: 'refused', reason: 'out leads out of the volume' });
  });

  it('ends when asked, and tells why an image cannot be run', async () => {
    const container = await rig.launch({ command: ['sleep', '600'], image });
    await container.seen('running');
    await rig.engine.stop(container.launch.key, { graceMs: 200 });
    expect(await container.end()).toEqual({ kind: 'stopped' });
    const absent = await rig.launch({ command: ['true'], image: '/no/such/image' });
    expect(await absent.end()).toMatchObject({ kind: 'exited' });
    expect(await absent.text()).toContain('/no/such/image');
  });
});
