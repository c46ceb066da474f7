import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpService } from '@sluice/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canMakeFailingDisk, type FailingDisk, mountFailingDisk } from './failing-disk.ts';
import { addUser, CREDENTIALS, configure, type Server, serve } from './served-rig.ts';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

const SCOPE = { clusterID: 'main', accountID: 'physics' };

describe.skipIf(!canMakeFailingDisk && process.env.CI !== 'true')('a service whose disk fails', () => {
  let place: Workplace;
  let disk: FailingDisk;
  let server: Server | undefined;

  beforeEach(async () => {
    place = createWorkplace();
    mkdirSync(join(place.directory, 'data'));
    disk = mountFailingDisk(join(place.directory, 'data'), join(place.directory, 'backing'));
    configure(place);
    await addUser(place, 'main/physics');
  });
  afterEach(async () => {
    await server?.kill();
    server = undefined;
    disk.unmount();
    place.remove();
  });

  const open = (url: string) =>
    createHttpService({
      baseUrl: url,
      login: { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD },
    });

  test('ends by itself, and has lost nothing that it acknowledged', async () => {
    server = await serve(place);
    const { volumes, close } = open(server.url);
    const served = server.process;
    const hasEnded = () => served.exitCode !== null || served.signalCode !== null;
    const acknowledged = new Set<string>();
    const create = async (volumeID: string) => {
      await volumes.create(SCOPE, { volumeID });
      acknowledged.add(volumeID);
    };
    for (let i = 0; i < 20; i++) await create(`before-${i}`);
    disk.fail();
    // The end of the device is reported as a full disk first (507), until the journal of the file system fails.
    let count = 0;
    await until(async () => {
      await create(`after-${count++}`).catch(() => {});
      return hasEnded();
    }, 'the service to end');
    await close();
    const { exitCode, stderr } = await server.ended;
    // lmdb damages the memory of a process in which a write has failed: it may crash before it can end by itself.
    expect([1, undefined]).toContain(exitCode);
    if (exitCode === 1) expect(stderr).toContain('the disk of the store has failed; restart the service');

    disk.replace();
    server = await serve(place);
    const reopened = open(server.url);
    const kept = new Set<string>();
    for await (const { id } of reopened.volumes.list(SCOPE)) kept.add(id);
    await reopened.close();
    expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
  });
});
