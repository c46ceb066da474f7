import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as openConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLocalAuthority } from '../../src/proxy/local-authority.ts';
import { openPortProxy } from '../../src/proxy/open-port-proxy.ts';
import type { Certificate } from '../../src/proxy/port-proxy.ts';
import { VirtualClock } from '../fakes/virtual-clock.ts';
import { openRig } from '../service-rig.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const log = pino({ level: 'silent' });

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'sluice-certificate-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

/** What a server shows who connects now. */
function shownAt(port: number): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, servername: 'a.ports.test' }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('certificates of a running service', () => {
  test('the local authority renews its own before it ends, for a year and longer', async () => {
    const clock = new VirtualClock();
    const config = { host: '127.0.0.1', port: 0, domain: 'ports.test' };
    const exposure = await openPortProxy(config, { root: directory(), clock, log });
    onTestFinished(() => exposure.close());
    await exposure.listen();
    const port = Number(exposure.hostFor('web').split(':')[1]);
    const first = await shownAt(port);
    for (let days = 0; days < 800; days += 100) {
      await clock.advance(100 * DAY_MS);
      expect(Date.parse((await shownAt(port)).validTo) - clock.now()).toBeGreaterThan(28 * DAY_MS);
    }
    expect((await shownAt(port)).fingerprint256).not.toBe(first.fingerprint256);
  });

  test('the operator’s files are read again within a minute or at once, and only as a pair that fits', async () => {
    const at = directory();
    const made = async (name: string): Promise<Certificate> =>
      openLocalAuthority(join(at, name), { domain: 'ports.test' });
    const [old, next] = [await made('old'), await made('next')];
    const [certFile, keyFile] = [join(at, 'cert.pem'), join(at, 'key.pem')];
    writeFileSync(certFile, old.cert);
    writeFileSync(keyFile, old.key);
    const rig = await openRig({ config: { tls: { certFile, keyFile } } });
    onTestFinished(() => rig.close());
    const { port = 0 } = await rig.service.listen({ host: '127.0.0.1', port: 0 });
    const shown = async () => (await shownAt(port)).fingerprint256;
    const fingerprint = ({ cert }: Certificate) => new X509Certificate(cert).fingerprint256;

    writeFileSync(certFile, next.cert);
    await rig.clock.advance(MINUTE_MS);
    expect(await shown()).toBe(fingerprint(old));
    writeFileSync(keyFile, next.key);
    writeFileSync(certFile, `${next.cert}\n${old.cert.slice(0, 200)}`);
    await rig.clock.advance(MINUTE_MS);
    expect(await shown()).toBe(fingerprint(old));
    writeFileSync(certFile, next.cert);
    await rig.clock.advance(MINUTE_MS);
    expect(await shown()).toBe(fingerprint(next));

    writeFileSync(certFile, old.cert);
    writeFileSync(keyFile, old.key);
    await rig.service.reload(rig.config);
    expect(await shown()).toBe(fingerprint(old));
  });

  test('files that are not there are named, and taken once they are', async () => {
    const at = directory();
    const [certFile, keyFile] = [join(at, 'cert.pem'), join(at, 'key.pem')];
    const rig = await openRig({ config: { tls: { certFile, keyFile } } });
    const again = await openRig({ config: { tls: { certFile, keyFile } } });
    onTestFinished(() => again.close());
    for (const { service } of [rig, again]) {
      const listening = service.listen({ host: '127.0.0.1', port: 0 });
      await expect(listening).rejects.toThrow(`could not read tls.certFile ${certFile} because it does not exist`);
    }
    // Leaves no promise behind that would end the process.
    await rig.close();
    const { cert, key } = await openLocalAuthority(join(at, 'made'), { domain: 'ports.test' });
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    const { port = 0 } = await again.service.listen({ host: '127.0.0.1', port: 0 });
    expect((await shownAt(port)).fingerprint256).toBe(new X509Certificate(cert).fingerprint256);
  });

  test('nobody who connects and says nothing keeps a service from closing', async () => {
    const at = directory();
    const { cert, key } = await openLocalAuthority(at, { domain: 'ports.test' });
    const tls = { certFile: join(at, 'cert.pem'), keyFile: join(at, 'key.pem') };
    writeFileSync(tls.certFile, cert);
    writeFileSync(tls.keyFile, key);
    const rig = await openRig({ config: { tls } });
    const { port = 0 } = await rig.service.listen({ host: '127.0.0.1', port: 0 });
    const silent = openConnection({ host: '127.0.0.1', port }).on('error', () => {});
    await once(silent, 'connect');
    // By then the service has seen the silent one, which came first.
    await shownAt(port);
    const closed = once(silent, 'close');
    await rig.close();
    await closed;
  });
});
