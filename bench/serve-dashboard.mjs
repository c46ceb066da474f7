// Serves the dashboard of a home as `sluice ui` does, and opens Chromium: for the measurements and the pictures of it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addRunApi, openRunApi, readStaticFiles } from '@sluice/host';
import { createService, EMBEDDED_SCOPE, embeddedConfig } from '@sluice/service';
import Fastify from 'fastify';
import { chromium } from 'playwright-core';

const DIST = fileURLToPath(new URL('../packages/dashboard/dist', import.meta.url));

/** The URL of the served dashboard, and a function that ends it. `hasService`: serves logs; then no run may execute. */
export async function serveDashboard(home, { hasService = false } = {}) {
  const server = Fastify({ forceCloseConnections: true });
  const service = hasService
    ? await createService({ config: embeddedConfig({ root: join(home, 'service') }) })
    : undefined;
  const inProcess = service?.inProcess({ userId: 'bench', accounts: [EMBEDDED_SCOPE] });
  const api = openRunApi({
    ...{ home, userName: 'bench' },
    ...(inProcess && { openService: async () => ({ ok: true, value: inProcess }) }),
  });
  await addRunApi(server, api);
  for (const [path, { bytes, type }] of readStaticFiles(DIST))
    server.get(path === '/index.html' ? '/' : path, (_, reply) => reply.type(type).send(bytes));
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const close = async () => {
    await api.close();
    await server.close();
    await service?.close();
  };
  return { url, close };
}

/** Chromium without a window. */
export function launchChromium() {
  const executablePath = spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).stdout.trim();
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--enable-precise-memory-info'] });
}
