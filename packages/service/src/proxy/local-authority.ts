import { X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import type { Certificate } from './port-proxy.ts';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
/** The maximum that browsers accept. */
const SERVER_DAYS = 397;
const RENEW_BEFORE_DAYS = 30;

/** A certificate with the authority that signed it. */
export interface LocalCertificate extends Certificate {
  /** Path of the authority's own certificate, which clients must trust; the file is public. */
  readonly authorityPath: string;
}

/**
 * Returns a certificate for `domain` and its direct subdomains, signed by an authority in `directory`. Creates both if they
 * are missing. The certificate is replaced before it expires and for another domain; the authority is kept, because users
 * have added it to their clients. `now` is in milliseconds since the epoch.
 */
export async function openLocalAuthority(
  directory: string,
  options: { domain: string; now?: number },
): Promise<LocalCertificate> {
  const { domain, now = Date.now() } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const authorityPath = join(directory, 'authority.pem');
  const authority = readPair(directory, 'authority') ?? (await makeAuthority(directory, now));
  const current = readPair(directory, 'server');
  if (current !== undefined && isGood(current, { authority, domain, now })) return { ...current, authorityPath };
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: domain }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + SERVER_DAYS * DAY_MS),
    ca: authority,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [domain, `*.${domain}`].map((value) => ({ type: 2, value })) },
    ],
  });
  return { ...writePair(directory, 'server', { key: made.private, cert: made.cert }), authorityPath };
}

async function makeAuthority(directory: string, now: number): Promise<Certificate> {
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: 'Sluice local authority' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - DAY_MS),
    notAfterDate: new Date(now + AUTHORITY_DAYS * DAY_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return writePair(directory, 'authority', { key: made.private, cert: made.cert });
}

function isGood(certificate: Certificate, options: { authority: Certificate; domain: string; now: number }): boolean {
  const parsed = new X509Certificate(certificate.cert);
  const issuer = new X509Certificate(options.authority.cert);
  const left = Date.parse(parsed.validTo) - options.now;
  const names = parsed.subjectAltName?.split(', ') ?? [];
  return (
    left > RENEW_BEFORE_DAYS * DAY_MS && names.includes(`DNS:*.${options.domain}`) && parsed.verify(issuer.publicKey)
  );
}

function readPair(directory: string, name: string): Certificate | undefined {
  try {
    return {
      key: readFileSync(join(directory, `${name}.key`), 'utf8'),
      cert: readFileSync(join(directory, `${name}.pem`), 'utf8'),
    };
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Writes the key first, so that a certificate never exists without its key. */
function writePair(directory: string, name: string, pair: Certificate): Certificate {
  const write = (file: string, text: string, mode: number) => {
    const path = join(directory, file);
    writeFileSync(`${path}.new`, text, { mode });
    chmodSync(`${path}.new`, mode);
    renameSync(`${path}.new`, path);
  };
  write(`${name}.key`, pair.key, 0o600);
  write(`${name}.pem`, pair.cert, 0o644);
  return pair;
}
