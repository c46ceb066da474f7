import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSftpServer, generateHostKey } from '../../../src/volumes/sftp/sftp-server.ts';
import type { VolumeSession } from '../../../src/volumes/volume-access.ts';
import { FakeVolumeAccess } from '../fake-volume-access.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

/** An SFTP server with the volume `data` (login `data`, `secret-data`), and what OpenSSH needs to log in by itself. */
export interface SftpRig {
  readonly access: FakeVolumeAccess;
  readonly session: VolumeSession;
  readonly port: number;
  readonly errors: unknown[];
  /** Environment in which `ssh` asks nobody for the password. */
  readonly env: Record<string, string>;
  /** Options of `ssh`, `sftp` and `sshfs`. */
  readonly sshOptions: readonly string[];
}

/** Opens one; it is closed when the test has finished. */
export async function openSftpRig(): Promise<SftpRig> {
  const directory = temporaryDirectory();
  const access = new FakeVolumeAccess(directory);
  const session = access.add('data');
  const errors: unknown[] = [];
  const server = createSftpServer(access, { hostKey: generateHostKey(), onError: (error) => errors.push(error) });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  const askpass = join(directory, 'askpass');
  writeFileSync(askpass, '#!/bin/sh\necho secret-data\n', { mode: 0o755 });
  return {
    access,
    session,
    port,
    errors,
    env: { SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0' },
    sshOptions: [
      '-oStrictHostKeyChecking=no',
      '-oUserKnownHostsFile=/dev/null',
      '-oGlobalKnownHostsFile=/dev/null',
      '-oPreferredAuthentications=password',
      '-oNumberOfPasswordPrompts=1',
      '-oLogLevel=ERROR',
      // `sftp -b` would forbid passwords.
      '-oBatchMode=no',
    ],
  };
}
