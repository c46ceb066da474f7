import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '../protocol/clock.ts';
import type { Certificate } from './port-proxy.ts';

/** A certificate that is reloaded regularly. */
export interface KeptCertificate {
  /** The latest valid certificate. */
  current(): Certificate;
  /** Calls `listener` with each new certificate, until the returned function is called. */
  onRenewed(listener: (certificate: Certificate) => void): () => void;
  /**
   * Reloads now; resolves to whether the certificate changed. Never rejects: an invalid certificate is logged and ignored.
   */
  refresh(): Promise<boolean>;
  stop(): void;
}

/** How to load the certificate, and how often. */
export interface KeepCertificateOptions {
  /** Loads the current certificate; may renew it first. */
  readonly read: () => Promise<Certificate>;
  /** Milliseconds between reloads. */
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Loads a certificate and reloads it regularly, since those of public authorities are valid for weeks and the service runs
 * for months. Throws if the first one is invalid. A later invalid one is ignored, because programs that renew a pair write
 * one file after the other.
 */
export async function keepCertificate(options: KeepCertificateOptions): Promise<KeptCertificate> {
  const { read, everyMs, clock, log } = options;
  let certificate = await read();
  checkPair(certificate);
  const listeners = new Set<(certificate: Certificate) => void>();
  let complaint = '';
  let cancel = () => {};
  let stopped = false;
  const refresh = async (): Promise<boolean> => {
    try {
      const next = await read();
      if (next.cert === certificate.cert && next.key === certificate.key) return false;
      checkPair(next);
      certificate = next;
      complaint = '';
      for (const listener of listeners) listener(next);
      log.info({ validTo: new X509Certificate(next.cert).validTo }, 'the certificate was renewed');
      return true;
    } catch (error) {
      const { message } = error as Error;
      if (message !== complaint) log.error({ err: error }, 'a newer certificate cannot be used; the old one is kept');
      complaint = message;
      return false;
    }
  };
  const look = async (): Promise<void> => {
    await refresh();
    if (!stopped) cancel = clock.after(everyMs, look);
  };
  cancel = clock.after(everyMs, look);
  return {
    current: () => certificate,
    onRenewed(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    refresh,
    stop() {
      stopped = true;
      cancel();
      listeners.clear();
    },
  };
}

function checkPair(pair: Certificate): void {
  const { cert, key } = pair;
  let isPair: boolean;
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    // Checks the rest of the chain too: the servers would reject an incomplete one.
    if (isPair) createSecureContext(pair);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`could not read the certificate or its key as PEM: ${message}`, { cause: error });
  }
  if (!isPair) throw new Error('could not use the certificate because the key does not belong to it');
}
