import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import type { EngineRig } from '../engine-rig.ts';
import { makeCharliecloudImage } from './charliecloud-image.ts';
import createInAllocations from './create-allocation-engine.ts';
import createInJob from './create-step-engine.ts';
import { endJob, hasSlurm, reserveNodes, slurmRig, waitFor } from './slurm-rig.ts';

const isMissing = !hasSlurm && process.env.CI !== 'true';
const config = { runtime: 'charliecloud', withoutImage: 'node', pollInterval: '200ms', recordGrace: '2000ms' };
const engines = {
  jobs: () => createSlurmEngine(slurmConfigSchema.parse(config), { storage: tmpdir() }),
  allocations: createInAllocations,
  'a job': createInJob,
};

describe.skipIf(isMissing).each(['jobs', 'allocations', 'a job'] as const)(
  'Slurm engine with charliecloud, in %s',
  (how) => {
    let rig: EngineRig;
    let image: string;
    let jobId: string | undefined;
    let steps: string | undefined;

    beforeAll(async () => {
      vi.stubEnv('SLUICE_TEST_ALLOCATION_RUNTIME', 'charliecloud');
      if (how === 'a job') {
        const job = { ...reserveNodes(2), runtime: 'charliecloud' };
        jobId = job.id;
        vi.stubEnv('SLUICE_TEST_JOB', JSON.stringify(job));
        steps = mkdtempSync(join(tmpdir(), 'sluice-steps-'));
        vi.stubEnv('SLUICE_TEST_STEPS', steps);
      }
      rig = slurmRig({ partition: 'main' }, engines[how]);
      await rig.open();
      image = join(rig.directory, 'an image');
      makeCharliecloudImage(image);
    });
    afterAll(async () => {
      await rig.close();
      if (jobId !== undefined) await endJob(jobId);
      if (steps !== undefined) rmSync(steps, { recursive: true, maxRetries: 10 });
      vi.unstubAllEnvs();
    });

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
      expect(await outside.end()).toEqual({ kind: 'rejected', reason: 'out leads out of the volume' });
    });

    it('ends with its command, and so does what that has left behind', async () => {
      const root = await rig.makeDirectory('left');
      const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/data' }];
      const script = '(while :; do echo >>/data/beats; sleep 0.1; done) & until [ -s /data/beats ]; do :; done';
      const container = await rig.launch({ command: ['sh', '-c', script], image, mounts });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      const beats = readFileSync(join(root, 'beats'), 'utf8');
      await waitFor(500);
      expect(readFileSync(join(root, 'beats'), 'utf8')).toBe(beats);
    });

    it('ends when asked, and tells why an image cannot be run', async () => {
      const container = await rig.launch({ command: ['sleep', '600'], image });
      await container.seen('running');
      await rig.engine.stop(container.launch.key, { graceMs: 600_000 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
      const absent = await rig.launch({ command: ['true'], image: '/no/such/image' });
      expect(await absent.end()).toMatchObject({ kind: 'exited' });
      expect(await absent.text()).toContain('/no/such/image');
    });

    it('runs a container without an image on the node, which hides the same as without a runtime', async () => {
      const root = await rig.makeDirectory('beside');
      const mount = { root, subPath: '', kind: 'dir' as const, target: '/data' };
      const munge = `${process.env.SLUICE_TEST_SLURM_STATE}/run/munge.socket.2`;
      const script = `echo "\${OF_IMAGE:-no image}" >/data/file; ls "$1"; touch /etc/sluice-test; exit 3`;
      const command = ['sh', '-c', script, 'sh', munge];
      const container = await rig.launch({ command, mounts: [mount], env: { A: 'b' } });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 3 });
      expect(readFileSync(join(root, 'file'), 'utf8')).toBe('no image\n');
      expect(await container.text()).toMatch(/munge\.socket\.2.*No such file.*\n.*sluice-test.*Read-only/s);
      const waiting = await rig.launch({ command: ['sleep', '600'] });
      await waiting.seen('running');
      await rig.engine.stop(waiting.launch.key, { graceMs: 600_000 });
      expect(await waiting.end()).toEqual({ kind: 'stopped' });
    });

    it('runs the tasks of a step in the image, on all of its nodes', async () => {
      const job = { tasks: { nodes: 2, perNode: 2 } };
      const command = ['sh', '-c', 'echo "$OF_IMAGE $RANK of $WORLD_SIZE"'];
      const container = await rig.launch({ command, image, job, limits: { cores: 4, memoryBytes: 1024 * 2 ** 20 } });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      const lines = (await container.text()).split('\n').filter(Boolean).sort();
      expect(lines).toEqual([0, 1, 2, 3].map((rank) => `${rank}: yes ${rank} of 4`));
    });
  },
);
