import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/service-config.ts';
import { createSftpServer, generateHostKey } from './sftp/sftp-server.ts';
import type { TransferThrottle } from './transfer-throttle.ts';
import type { VolumeAccess } from './volume-access.ts';

/** A running SFTP server. */
export interface SftpFront {
  /** `host:port` as announced to clients. */
  readonly address: string;
  close(): Promise<void>;
}

/** What the SFTP server needs of the service; `root` is the service's data root. */
export interface SftpFrontOptions {
  readonly root: string;
  readonly at: NonNullable<ServiceConfig['sftp']>;
  readonly access: VolumeAccess;
  readonly throttle: TransferThrottle;
  readonly log: Logger;
}

/** Serves the volumes over SFTP. The host key is created once and kept, because clients remember it. */
export async function openSftp({ root, at, access, throttle, log }: SftpFrontOptions): Promise<SftpFront> {
  const server = createSftpServer(access, {
    hostKey: hostKey(at.hostKeyFile ?? join(root, 'sftp_host_key')),
    throttle,
    onError: (error) => log.error({ err: error }, 'an SFTP session failed'),
  });
  const { port } = await server.listen({ host: at.host, port: at.port });
  return { address: at.publicAddress ?? `${at.host}:${port}`, close: () => server.close() };
}

function hostKey(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) throw error;
  }
  const key = generateHostKey();
  writeFileSync(path, key, { mode: 0o600, flag: 'wx' });
  return key;
}
