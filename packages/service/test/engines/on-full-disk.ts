import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineRig, RigContainer } from './engine-rig.ts';

/** A container that has taken all the room of its rig's disk, by the file `filler`, and then ends with 7. */
interface FullDisk {
  readonly rig: EngineRig;
  readonly container: RigContainer;
  readonly filler: string;
}

/** Gives `check` a rig whose directory has one megabyte, which a container fills. Only root can. */
export async function onFullDisk(
  makeRig: (directory: string) => EngineRig,
  check: (full: FullDisk) => Promise<void>,
): Promise<void> {
  const disk = await mkdtemp(join(tmpdir(), 'sluice-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  const rig = makeRig(disk);
  try {
    await rig.open();
    const root = await rig.makeDirectory('volume');
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.run('cat /dev/zero > /v/filler; exit 7', { mounts });
    await check({ rig, container, filler: join(root, 'filler') });
  } finally {
    await rig.close();
    execFileSync('umount', ['--lazy', disk]);
    await rm(disk, { recursive: true });
  }
}
