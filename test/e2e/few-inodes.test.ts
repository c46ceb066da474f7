import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mountSmallDisk } from '../../packages/service/test/store/small-disk.ts';
import { createWorkplace } from './workplace-rig.ts';

/** Only root can mount one; the test is skipped for others. */
const canMount = process.geteuid?.() === 0 || process.env.CI === 'true';

test.skipIf(!canMount)('doctor says when the disk of the home has too few free inodes for the service', async () => {
  const place = createWorkplace();
  const home = join(place.directory, 'small');
  mkdirSync(home);
  const disk = mountSmallDisk('1m,nr_inodes=1500', home)!;
  try {
    const doctor = async () => (await place.start(['--home', home, 'doctor']).ended).stdout;
    expect(await doctor()).not.toContain('inodes');
    disk.fillInodes(999);
    const shortage = 'its disk has only 999 free inodes, and 1000 are reserved';
    expect(await doctor()).toContain(
      `could not create containers in ${home}: ${shortage}; delete files on that disk\n`,
    );
  } finally {
    disk.unmount();
    place.remove();
  }
});
