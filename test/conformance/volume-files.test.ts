import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpService } from '@sluice/client';
import { describeVolumeFiles, until } from '@sluice/client/contract';
import { createService, EMBEDDED_SCOPE, embeddedConfig } from '@sluice/service';

/** The client's WebDAV through the service, as a runner on the same machine or its embedded service uses it. */
async function openFiles(over: 'socket' | 'http') {
  const root = mkdtempSync(join(tmpdir(), 'sluice-files-'));
  const service = await createService({ config: embeddedConfig({ root }) });
  const principal = { userId: 'files', accounts: [EMBEDDED_SCOPE] };
  const socketPath = join(root, 's');
  const direct = service.inProcess(principal);
  const listened = await service.listen(over === 'socket' ? { socketPath, principal } : { host: '127.0.0.1', port: 0 });
  const client = createHttpService({
    baseUrl: listened.url,
    token: 'none',
    ...(over === 'socket' ? { socketPath } : {}),
  });
  const made = await (over === 'socket' ? client : direct).volumes.create(EMBEDDED_SCOPE, { transfer: true });
  await until('the volume', async () => {
    for await (const volume of direct.volumes.list(EMBEDDED_SCOPE)) if (volume.phase === 'Available') return true;
    return false;
  });
  if (made.service === undefined) throw new Error('The service gave no login');
  const webdav = made.service.address.webdav ?? '';
  const address = over === 'socket' ? {} : { webdav: new URL(new URL(webdav).pathname, listened.url).href };
  const login = { ...made.service, address: { ...made.service.address, ...address } };
  return {
    files: client.volumes.files({ ...EMBEDDED_SCOPE, id: made.id }, login),
    async close() {
      await client.close();
      await service.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

describeVolumeFiles('the service over a unix socket', () => openFiles('socket'));
describeVolumeFiles('the service over HTTP', () => openFiles('http'));
