import { spawn } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasProgram, runClient } from '../volumes/client-program.ts';
import { openProxyRig } from './proxy-rig.ts';
import { openWebApplication } from './web-application.ts';

const HOST = 'web-c1.ports.test';

describe('createPortProxy with real clients', () => {
  test.skipIf(!hasProgram('curl'))('curl trusts the local authority and gets the page', async () => {
    const application = await openWebApplication();
    const rig = await openProxyRig();
    rig.proxy.routes.add(HOST, { host: '127.0.0.1', port: application.port });
    const url = `https://${HOST}:${rig.port}/`;
    const resolve = ['--resolve', `${HOST}:${rig.port}:127.0.0.1`];
    const run = await runClient('curl', ['-sS', '-f', '--cacert', rig.certificate.authorityPath, ...resolve, url]);
    expect(run).toEqual({ code: 0, output: expect.stringContaining('<title>app</title>') });
    expect((await runClient('curl', ['-sS', '-f', ...resolve, url])).code).toBe(60);
  });

  test.skipIf(!hasProgram('chromium'))('Chromium runs a page with events, a WebSocket and an upload', async () => {
    const application = await openWebApplication();
    const rig = await openProxyRig();
    rig.proxy.routes.add(HOST, { host: '127.0.0.1', port: application.port });
    const profile = mkdtempSync(join(tmpdir(), 'sluice-chromium-'));
    const { publicKey } = new X509Certificate(rig.certificate.cert);
    const key = createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64');
    const browser = spawn(
      'chromium',
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--disable-background-networking',
        `--user-data-dir=${profile}`,
        `--host-resolver-rules=MAP ${HOST} 127.0.0.1, MAP * ~NOTFOUND`,
        `--ignore-certificate-errors-spki-list=${key}`,
        '--remote-debugging-port=0',
        `https://${HOST}:${rig.port}/`,
      ],
      { stdio: 'ignore', detached: true },
    );
    const ended = new Promise((resolve) => browser.on('close', resolve));
    onTestFinished(async () => {
      process.kill(-(browser.pid as number), 'SIGKILL');
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    });
    const report = await Promise.race([application.report, ended.then(() => 'the browser ended')]);
    expect(report).toEqual({
      all: ['first', 'twicetwice', '3000000 bytes'],
      secure: true,
      host: `${HOST}:${rig.port}`,
    });
  });
});
