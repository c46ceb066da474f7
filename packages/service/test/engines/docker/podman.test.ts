import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { describeEngine } from '../describe-engine.ts';
import { expectEndOnFullDisk } from '../on-full-disk.ts';
import create from './create-podman-engine.ts';
import { dockerRig, dockerSubject } from './docker-rig.ts';

describe.skipIf(process.env.SLUICE_TEST_PODMAN_SOCKET === undefined && process.env.CI !== 'true')(
  'on the socket of Podman',
  () => {
    const module = fileURLToPath(new URL('./create-podman-engine.ts', import.meta.url));
    describeEngine('docker, with Podman behind', create, { ...dockerSubject(), module });

    it('rejects GPUs, which Podman would leave out without a word', async () => {
      const rig = dockerRig(create);
      await rig.open();
      const container = await rig.prepare({ command: ['true'], limits: { gpus: 1 } });
      expect(await rig.rejection(container)).toMatchObject({ reason: expect.stringContaining('no request for them') });
      await rig.close();
    });

    it.skipIf(process.geteuid?.() !== 0).each(['bytes', 'inodes'] as const)(
      'knows how a container ended that has used up the %s of its disk',
      async (what) => {
        const makeRig = (directory: string) => dockerRig(create, directory);
        await expectEndOnFullDisk(makeRig, what);
      },
    );
  },
);
