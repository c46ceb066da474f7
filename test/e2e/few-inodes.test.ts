import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mountSmallDisk } from '../../packages/service/test/store/small-disk.ts';
import { createCaller, createHostedPlace, prepareOrder } from './hosted-rig.ts';
import { createWorkplace, until } from './workplace-rig.ts';

const PIPELINE = "version: 1\nname: one\nsteps: { a: { command: ['true'] } }\n";

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

test.skipIf(!canMount)('a server takes no run while the disk of its root has too few free inodes', async () => {
  const place = createHostedPlace();
  const root = join(place.directory, 'data');
  mkdirSync(root);
  const disk = mountSmallDisk('64m,nr_inodes=3000', root)!;
  const server = await place.open();
  try {
    const caller = createCaller(server);
    const [first, second] = [await prepareOrder(server, PIPELINE), await prepareOrder(server, PIPELINE)];
    expect((await caller.order(first)).status).toBe(200);
    await until(async () => (await caller.status(first.runId)) === 'succeeded', 'the end of the run');
    const isReady = async () => {
      const reply = await fetch(`${server.url}/readyz`);
      return { status: reply.status, ...((await reply.json()) as object) };
    };
    expect(await isReady()).toMatchObject({ status: 200, store: 'ready' });
    disk.fillInodes(500);
    expect(await isReady()).toMatchObject({ status: 503, store: 'its disk has too few free inodes' });
    const rejection = {
      status: 507,
      body: {
        message: expect.stringMatching(/only \d{3} free inodes, and 1000 are reserved/),
        details: [{ reason: 'STORE_FULL' }],
      },
    };
    expect(await caller.order(second)).toMatchObject(rejection);
    expect(await caller.json('POST', `/runs/${first.runId}:rerun`, { all: true })).toMatchObject(rejection);
    disk.empty();
    expect(await isReady()).toMatchObject({ status: 200, store: 'ready' });
    expect((await caller.order(second)).status).toBe(200);
    expect((await caller.json('POST', `/runs/${first.runId}:rerun`, { all: true })).status).toBe(200);
  } finally {
    await server.close();
    disk.unmount();
    place.remove();
  }
});
