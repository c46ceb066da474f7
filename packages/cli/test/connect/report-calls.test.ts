import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openService } from '../../src/connect/open-service.ts';
import type { GlobalOptions } from '../../src/context/command-context.ts';
import { createTestContext } from '../recording-terminal.ts';

/** What opening a service and asking for its accounts prints to standard error. */
async function ask(options: GlobalOptions): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'sluice-verbose-'));
  const context = createTestContext({ cwd, env: { HOME: cwd, PATH: process.env.PATH, SLUICE_TOKEN: 'secret-1' } });
  const opened = await openService({ home: join(cwd, '.sluice'), ...options }, context);
  if (!opened.ok) throw new Error(opened.error.message);
  onTestFinished(async () => {
    await opened.value.close();
    rmSync(cwd, { recursive: true, force: true, maxRetries: 10 });
  });
  await opened.value.service.discovery.listAccounts('-');
  return context.terminal.written().err;
}

test('--verbose says how the embedded service has ended each call; nothing is said without it', async () => {
  expect(await ask({ cpu: 1, verbose: true })).toMatch(
    /^embedded service: discovery\.listAccounts: ok after \d+ ms\n$/,
  );
  expect(await ask({ cpu: 1 })).toBe('');
});

test('--verbose says how a service has answered each request, without the token', async () => {
  const server = createServer((_, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify({ accounts: [{ clusterID: 'main', accountID: 'physics' }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const err = await ask({ service, verbose: true });
  const line = `${service}: list the accounts of cluster -: 200 after N ms\n`;
  expect(err.replace(/\d+ ms/g, 'N ms')).toBe(line.repeat(2));
  expect(await ask({ service })).toBe('');
});
