import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { Clock } from '../host/clock.ts';
import type { Certificate } from './port-proxy.ts';

/** A certificate that is looked at again from time to time. */
export interface KeptCertificate {
  /** The newest that could be used. */
  current(): Certificate;
  /** Calls `listener` with each newer one, until the returned function is called. */
  onRenewed(listener: (certificate: Certificate) => void): () => void;
  /** Looks now; resolves to whether there is another one. Never rejects: what cannot be used is logged and left. */
  refresh(): Promise<boolean>;
  stop(): void;
}

export interface KeepCertificateOptions {
  /** Gives the certificate as it is now; may renew it on the way. */
  readonly read: () => Promise<Certificate>;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Reads a certificate and goes on looking for a newer one, since those of public authorities live for weeks and the
 * service for months. Throws where the first one cannot be used. A later one that cannot be is not taken: whoever
 * renews a pair writes one file after the other.
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
    // The rest of the chain too: what is half written would be refused by the servers one by one.
    if (isPair) createSecureContext(pair);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`could not read the certificate or its key as PEM: ${message}`, { cause: error });
  }
  if (!isPair) throw new Error('could not use the certificate because the key is another one’s');
}
