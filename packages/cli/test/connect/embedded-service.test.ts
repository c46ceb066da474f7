import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectToOwner } from '../../src/connect/claim-service.ts';
import { type EmbeddedService, openEmbeddedService } from '../../src/connect/embedded-service.ts';

describe('openEmbeddedService', () => {
  let home: string;
  const opened: EmbeddedService[] = [];
  const open = async (): Promise<EmbeddedService> => {
    const embedded = await openEmbeddedService(home, { cpu: 1 });
    opened.push(embedded);
    return embedded;
  };
  const ask = ({ service }: EmbeddedService) => service.discovery.listAccounts('-');

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'sluice-embedded-'));
  });
  afterEach(async () => {
    for (const embedded of opened.splice(0)) await embedded.close();
    await rm(home, { recursive: true, force: true, maxRetries: 10 });
  });

  test('a take-over that failed is tried again when the service is asked next', async () => {
    const owner = await open();
    const other = await open();
    const [store, away] = [join(home, 'service', 'store'), join(home, 'service', 'away')];
    await rename(store, away);
    await writeFile(store, 'no directory');
    await owner.close();
    await expect(ask(other)).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await rm(store);
    await rename(away, store);
    expect(await ask(other)).toHaveLength(1);
  });

  test('an owner that could not be reached is, once its socket can be made', async () => {
    await open();
    const socket = join(home, 'service.sock');
    await mkdir(socket);
    expect(await connectToOwner(join(home, 'owner.sock'), 30_000)).toBeUndefined();
    await rm(socket, { recursive: true });
    expect(await ask(await open())).toHaveLength(1);
  });
});
