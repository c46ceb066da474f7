import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/engines/engine.ts';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { expectEndOnFullDisk } from '../on-full-disk.ts';
import { makeCharliecloudImage } from './charliecloud-image.ts';
import create from './create-engine.ts';
import { hasSlurm, slurm, slurmSubject, until, withProgram } from './slurm-rig.ts';

const isRoot = process.geteuid?.() === 0;
/** Other than the runtime `none`, it needs no file of its own to start. */
function createCharliecloud(): Engine {
  const config = slurmConfigSchema.parse({ runtime: 'charliecloud', pollInterval: '200ms', recordGrace: '2000ms' });
  return createSlurmEngine(config, { storage: tmpdir() });
}

const makeRig = (directory: string) => new EngineRig(create, { ...slurmSubject({ partition: 'main' }), directory });

/** Leaves room on the disk `at` for so many files and their bytes. */
const LEAVING = {
  'no bytes': (at: string) => `cat /dev/zero >'${at}/filler'`,
  ...Object.fromEntries(
    [0, 1, 2, 3].map((left) => [
      `${left} inodes`,
      (at: string) =>
        `i=0; while true >'${at}/'$i; do i=$((i + 1)); done; for j in 1 2 3; do [ $j -gt ${left} ] || rm '${at}/'$((i - j)); done`,
    ]),
  ),
};

describe.skipIf((!hasSlurm || !isRoot) && process.env.CI !== 'true')('Slurm engine on a full disk', () => {
  it.each(['bytes', 'inodes'] as const)('knows how a container ended that has used up the %s', async (what) => {
    await expectEndOnFullDisk(makeRig, what);
  });

  it.each(Object.entries(LEAVING))('starts no command whose end could not be recorded: %s left', async (_, fill) => {
    const disk = mkdtempSync(join(tmpdir(), 'sluice-small-'));
    const other = mkdtempSync(join(tmpdir(), 'sluice-ledger-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,nr_inodes=100', 'tmpfs', disk]);
    const image = join(other, 'image');
    makeCharliecloudImage(image);
    const rig = new EngineRig(createCharliecloud, { ...slurmSubject({ partition: 'main' }), directory: disk });
    const room = join(disk, 'room');
    try {
      await withProgram('sbatch', `mkdir '${room}'; { ${fill(room)}; } 2>/dev/null`, async () => {
        await rig.open();
        const mounts = [{ root: other, subPath: '', kind: 'dir' as const, target: '/data' }];
        const command = ['sh', '-c', 'echo ran >/data/ledger; sleep 1'];
        const container = await rig.prepare({ command, image, mounts });
        // The ID of the job cannot be written either.
        await rig.engine.launch(container.launch).catch(() => undefined);
        await rig.engine.recover([container.launch]);
        const name = `--name=sluice-${container.launch.key}`;
        await until('the job is over', () => slurm('squeue', '--noheader', name) === '');
        rmSync(room, { recursive: true });
        const isKnown = (await container.end()).kind === 'exited';
        expect(existsSync(join(other, 'ledger'))).toBe(isKnown);
      });
    } finally {
      await rig.close();
      execFileSync('umount', ['--lazy', disk]);
      for (const directory of [disk, other]) rmSync(directory, { recursive: true });
    }
  });
});
