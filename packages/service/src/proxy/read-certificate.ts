import { readFile } from 'node:fs/promises';
import type { ServiceConfig } from '../config/service-config.ts';
import type { Certificate } from './port-proxy.ts';

/** So often an operator's files are looked at; what renews them cannot be asked to tell. */
export const FILES_LOOK_MS = 60_000;

/** The operator's certificate and key as their files are now. */
export async function readCertificate({ certFile, keyFile }: NonNullable<ServiceConfig['tls']>): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { cert, key };
}
