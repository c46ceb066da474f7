import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { EngineRig, RigContainer } from './engine-rig.ts';

/** A container that has taken all the room of its rig's disk, by the file `filler`, and then ends with 7. */
interface FullDisk {
  readonly rig: EngineRig;
  readonly container: RigContainer;
  readonly filler: string;
}

/** What a container uses up, and how. */
const FILLED = {
  bytes: { limit: 'size=1m', script: 'cat /dev/zero > /v/filler; exit 7' },
  inodes: { limit: 'nr_inodes=200', script: 'i=0; while touch /v/$i; do i=$((i + 1)); done; touch /v/filler; exit 7' },
};

/** Gives `check` a rig whose directory has one megabyte, or few inodes, which a container uses up. Only root can. */
export async function onFullDisk(
  makeRig: (directory: string) => EngineRig,
  check: (full: FullDisk) => Promise<void>,
  { limit, script } = FILLED.bytes,
): Promise<void> {
  const disk = await mkdtemp(join(tmpdir(), 'sluice-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', limit, 'tmpfs', disk]);
  const rig = makeRig(disk);
  try {
    await rig.open();
    const root = await rig.makeDirectory('volume');
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.run(script, { mounts });
    await check({ rig, container, filler: join(root, 'filler') });
  } finally {
    await rig.close();
    execFileSync('umount', ['--lazy', disk]);
    await rm(disk, { recursive: true });
  }
}

/** Checks that the end of a container is known although it has used up the bytes or inodes of its disk. */
export async function expectEndOnFullDisk(
  makeRig: (directory: string) => EngineRig,
  what: keyof typeof FILLED,
): Promise<void> {
  const check = async ({ container }: FullDisk) => {
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 7 });
  };
  await onFullDisk(makeRig, check, FILLED[what]);
}
