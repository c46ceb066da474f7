import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWebDavFiles } from '@sluice/client';
import { describeVolumeFiles } from '@sluice/client/contract';
import { createWebDavHandler } from '../../../src/volumes/webdav/webdav-handler.ts';
import { FakeVolumeAccess } from '../fake-volume-access.ts';

describeVolumeFiles('createWebDavFiles with createWebDavHandler', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-contract-'));
  const access = new FakeVolumeAccess(directory);
  access.add('data');
  const server = createServer(createWebDavHandler(access, { prefixOf: ({ volumeID }) => `/dav/${volumeID}` }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/dav/data/`;
  return {
    files: createWebDavFiles({ url, username: 'data', password: 'secret-data' }),
    async close() {
      server.closeAllConnections();
      server.close();
      rmSync(directory, { recursive: true });
    },
  };
});
