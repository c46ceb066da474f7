import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEngine } from '../describe-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import type { EngineUnderTest } from '../engine-under-test.ts';
import create from './create-podman-engine.ts';
import { hasSlurm } from './slurm-rig.ts';

const { SLUICE_TEST_SLURM_USER: user } = process.env;
const isRoot = process.geteuid?.() === 0;

describe.skipIf((!hasSlurm && process.env.CI !== 'true') || !isRoot)('with Podman, as a user without rights', () => {
  const idOf = (flag: string) => (user ? Number(execFileSync('id', [flag, user], { encoding: 'utf8' })) : 0);
  const subject: EngineUnderTest = {
    image: 'sluice-test:1',
    // 64 at once are as many calls of Podman, of which one takes half a second alone.
    patienceMs: 120_000,
    options: { partition: 'main' },
    directory: tmpdir(),
    owner: { uid: idOf('-u'), gid: idOf('-g') },
    module: fileURLToPath(new URL('./create-podman-engine.ts', import.meta.url)),
    ordersStreams: true,
    pipesLog: false,
    keepsBytes: true,
    memoryLimit: 'none',
    coreLimit: false,
    mounts: 300,
    hostRoot: false,
    hidesInit: false,
    rejectsMissingCommand: true,
    startsTasks: true,
    separatesTasks: true,
    holdsSwappedLinks: false,
  };
  describeEngine('slurm, with Podman in the jobs', create, subject);

  describe('its own', () => {
    const rig = new EngineRig(create, subject);
    beforeAll(() => rig.open());
    afterAll(() => rig.close());

    it('shows no value of the environment to other users of the node', async () => {
      const env = { TOKEN: 'secret-of-a-pipeline' };
      const container = await rig.launch({ command: ['sh', '-c', 'echo "$TOKEN"; sleep 600'], env });
      await rig.untilLog(container, env.TOKEN);
      expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(env.TOKEN);
      await rig.engine.stop(container.launch.key, { graceMs: 0 });
      expect(await container.end()).toEqual({ kind: 'stopped' });
    });

    it('calls a registry that cannot be reached a fault', async () => {
      const container = await rig.launch({ command: ['true'], image: '127.0.0.1:1/no/such:image' });
      expect(await container.end()).toEqual({ kind: 'fault', reason: expect.stringContaining('no/such:image') });
    });

    it('rejects an image that does not exist, with the reason', async () => {
      const container = await rig.launch({ command: ['true'], image: 'docker-archive:/no/such.tar' });
      expect(await container.end()).toEqual({ kind: 'rejected', reason: expect.stringContaining('/no/such.tar') });
    });

    it('rejects an image that would be an option of the runtime', async () => {
      const container = await rig.prepare({ command: ['true'], image: '--privileged' });
      expect(await rig.rejection(container)).toMatchObject({
        reason: expect.stringContaining('takes it for an option'),
      });
    });
  });
});
