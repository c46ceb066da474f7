import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { findClear } from '../find-clear.ts';
import { makeCharliecloudImage } from './charliecloud-image.ts';
import { hasSlurm, slurm, slurmSubject } from './slurm-rig.ts';

const VALUE = 'a-very-secret-value';
const CHECKED = '[ "$token" = a-very-$(echo secret)-value ] || exit 9';

describe.skipIf(!hasSlurm && process.env.CI !== 'true').each(['none', 'charliecloud'] as const)(
  'variables on Slurm with %s',
  (runtime) => {
    let images: string;
    let rig: EngineRig;
    const image = () => (runtime === 'none' ? {} : { image: join(images, 'image') });

    beforeAll(async () => {
      images = mkdtempSync(join(tmpdir(), 'sluice-image-'));
      makeCharliecloudImage(join(images, 'image'));
      const config = slurmConfigSchema.parse({ runtime, pollInterval: '200ms', recordGrace: '2000ms' });
      rig = new EngineRig(() => createSlurmEngine(config, { storage: tmpdir() }), slurmSubject({ partition: 'main' }));
      await rig.open();
    });
    afterAll(async () => {
      await rig.close();
      rmSync(images, { recursive: true });
    });

    it('are in no file of the storage: before the start of the job, while it runs, and after its end', async () => {
      const root = await rig.makeDirectory('volume');
      const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/data' }];
      const command = ['sh', '-c', `${CHECKED}; echo ready; while [ ! -e /data/go ]; do sleep 0.1; done`];
      slurm('scontrol', 'update', 'PartitionName=main', 'State=DOWN');
      const container = await rig
        .launch({ command, env: { token: VALUE }, mounts, ...image() })
        .then(async (launched) => {
          await launched.seen('pending');
          expect(findClear(rig.directory, VALUE)).toEqual([]);
          // A restarted service submits it not again.
          await rig.leave();
          await rig.start();
          await rig.engine.launch(launched.launch);
          return launched;
        })
        .finally(() => slurm('scontrol', 'update', 'PartitionName=main', 'State=UP'));
      await rig.untilLog(container, 'ready');
      expect(findClear(rig.directory, VALUE)).toEqual([]);
      writeFileSync(join(root, 'go'), '');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(findClear(rig.directory, VALUE)).toEqual([]);
      expect(await container.text()).toBe('ready\n');
    });
  },
);
