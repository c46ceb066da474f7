import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasSlurm, slurmSubject } from './slurm-rig.ts';

/** Ways out of a root that was only changed, and of a mask that was only put over. */
const ATTACKS = `
storage=$1
look() { cat "$storage/secret" "$1$storage/secret" 2>/dev/null; }
look
umount "$storage" 2>/dev/null; umount -l "$storage" 2>/dev/null; look
unshare --user --map-root-user --mount sh -c "umount -l '$storage'; cat '$storage/secret'" 2>/dev/null
for process in 1 self $PPID; do look "/proc/$process/root"; look "/proc/$process/cwd/../../../.."; done
mkdir /tmp/jail
chroot /tmp/jail /bin/true 2>/dev/null
perl -e 'chdir "/"; chroot "/tmp/jail"; chdir ".." for 1..64; chroot "."; exec "/bin/cat", $ARGV[0]' "$storage/secret" 2>/dev/null
ls -A "$storage"
echo over
`;

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('Slurm engine with the node as image', () => {
  let storage: string;
  let rig: EngineRig;

  beforeAll(async () => {
    // Not beneath /tmp, of which each container has its own.
    storage = await mkdtemp('/var/tmp/sluice-storage-');
    await writeFile(join(storage, 'secret'), 'of another account');
    const config = slurmConfigSchema.parse({ pollMs: 200, recordGraceMs: 2000 });
    const subject = { ...slurmSubject({}), directory: storage };
    rig = new EngineRig(
      () => createSlurmEngine(config, { storage, maskedPaths: [storage, '/no/such/place'] }),
      subject,
    );
    await rig.open();
  });
  afterAll(async () => {
    await rig.close();
    await rm(storage, { recursive: true, force: true });
  });

  it('hides the storage, and gives no way back to it', async () => {
    const container = await rig.run(ATTACKS, { args: [storage] });
    expect(await container.text()).toBe('over\n');
  });

  it('still mounts volumes of that storage', async () => {
    const root = await rig.makeDirectory('volume');
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.run('echo kept >/v/f; ls -A "$1"', { mounts, args: [storage] });
    expect(await container.text()).toBe('');
    expect(await rig.read('volume/f')).toBe('kept\n');
  });
});
