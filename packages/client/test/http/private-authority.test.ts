import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpService, createWebDavFiles } from '@sluice/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { instantClock } from '../rig/instant-clock.ts';
import { json } from '../rig/scripted-server.ts';
import { CONTAINER, REF } from '../rig/with-service.ts';

const OPENSSL = '/usr/bin/openssl';

/** A certificate for 127.0.0.1 that signs itself, or undefined where no OpenSSL is there to make it. */
function selfSigned(): { key: string; cert: string } | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-tls-'));
  try {
    const made = spawnSync(
      OPENSSL,
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
        .concat(['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'])
        .concat(['-keyout', 'key.pem', '-out', 'cert.pem']),
      { cwd: directory },
    );
    if (made.error === undefined && made.status === 0) {
      return {
        key: readFileSync(join(directory, 'key.pem'), 'utf8'),
        cert: readFileSync(join(directory, 'cert.pem'), 'utf8'),
      };
    }
    if (process.env.CI === 'true') throw new Error('cannot test TLS: openssl is not installed');
    return undefined;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const certificate = selfSigned();

describe.skipIf(certificate === undefined)('a certificate authority of its own', () => {
  async function serve(): Promise<string> {
    const server = createServer(certificate ?? {}, (request, reply) => {
      if (request.method === 'GET' && request.url?.includes('/dav/')) reply.end('file');
      else json(reply, CONTAINER);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('ca: the API and the files of its volumes are trusted by it', async () => {
    const baseUrl = await serve();
    const ca = certificate?.cert ?? '';
    const service = createHttpService({ baseUrl, token: 'tok', ca: [ca], clock: instantClock() });
    onTestFinished(() => service.close());
    expect(await service.containers.get(REF)).toMatchObject({ id: 'x1' });
    const elsewhere = await serve();
    for (const origin of [baseUrl, elsewhere]) {
      const login = { username: 'u', password: 'p', address: { webdav: `${origin}/dav/` } };
      const stream = await service.volumes.files(REF, login).read('f');
      for await (const part of stream) expect(Buffer.from(part).toString()).toBe('file');
    }
    const files = createWebDavFiles({ url: `${baseUrl}/dav/`, username: 'u', password: 'p', ca });
    for await (const part of await files.read('f')) expect(Buffer.from(part).toString()).toBe('file');
  });

  it('ca: without it nothing is sent, and the call is UNREACHABLE', async () => {
    const service = createHttpService({ baseUrl: await serve(), token: 'tok', clock: instantClock() });
    onTestFinished(() => service.close());
    await expect(service.containers.get(REF)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
});
