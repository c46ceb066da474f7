import { readFile } from 'node:fs/promises';
import type { ServiceConfig } from '../config/service-config.ts';
import type { Certificate } from './port-proxy.ts';

/** Interval of reloading the operator's files; the program that renews them sends no notification. */
export const FILES_LOOK_MS = 60_000;

/** Reads the operator's certificate and key. Throws with advice if one cannot be read. */
export async function readCertificate({ certFile, keyFile }: NonNullable<ServiceConfig['tls']>): Promise<Certificate> {
  // Sequentially: if both are unreadable, the error always names the same one.
  const cert = await read('certFile', certFile);
  const key = await read('keyFile', keyFile);
  return { cert, key };
}

async function read(field: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = { ENOENT: 'it does not exist', EACCES: 'this user may not read it' }[code ?? ''] ?? message;
    throw new Error(`could not read tls.${field} ${path} because ${why}`, { cause: error });
  }
}
