import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLocalAuthority } from '../../src/proxy/local-authority.ts';

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'sluice-authority-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

describe('openLocalAuthority', () => {
  test('makes an authority and a certificate beneath it, and finds both again', async () => {
    const at = directory();
    const first = await openLocalAuthority(at, { domain: 'ports.test' });
    const second = await openLocalAuthority(at, { domain: 'ports.test' });
    expect(second).toEqual(first);
    const authority = new X509Certificate(readFileSync(first.authorityPath));
    const server = new X509Certificate(first.cert);
    expect([authority.ca, server.ca, server.checkIssued(authority)]).toEqual([true, false, true]);
    expect(server.checkHost('web-c1.ports.test')).toBeDefined();
    expect(server.checkHost('elsewhere.test')).toBeUndefined();
    expect(statSync(join(at, 'authority.key')).mode & 0o077).toBe(0);
  });

  test('renews the certificate before it ends and for another domain, under the same authority', async () => {
    const at = directory();
    const now = Date.now();
    const first = await openLocalAuthority(at, { domain: 'ports.test', now });
    const authority = readFileSync(first.authorityPath, 'utf8');
    const later = await openLocalAuthority(at, { domain: 'ports.test', now: now + 370 * 86_400_000 });
    expect(later.cert).not.toBe(first.cert);
    const other = await openLocalAuthority(at, { domain: 'other.test', now });
    expect(new X509Certificate(other.cert).checkHost('a.other.test')).toBeDefined();
    expect(readFileSync(other.authorityPath, 'utf8')).toBe(authority);
  });
});
