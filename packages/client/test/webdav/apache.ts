import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';

const PROGRAM = '/usr/sbin/apache2';
const MODULES = '/usr/lib/apache2/modules';

/** Whether Apache can be tested with; in CI a missing one is a failure. */
export function hasApache(): boolean {
  const found = existsSync(PROGRAM) && existsSync(join(MODULES, 'mod_dav_fs.so'));
  if (!found && process.env.CI === 'true') throw new Error('cannot test with Apache: apache2 is not installed');
  return found;
}

export interface Apache {
  /** The root of the share, under a path of its own. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  close(): Promise<void>;
}

/** Apache's mod_dav over a directory of its own, with Basic authentication. */
export async function openApache(): Promise<Apache> {
  const home = await mkdtemp(join(tmpdir(), 'sluice-apache-'));
  const port = await freePort();
  await mkdir(join(home, 'root/share dir'), { recursive: true });
  // mod_dav writes as www-data where the test runs as root.
  for (const path of ['', 'root', 'root/share dir']) await chmod(join(home, path), 0o777);
  const password = 'pass:word';
  const digest = createHash('sha1').update(password).digest('base64');
  await writeFile(join(home, 'passwords'), `reader:{SHA}${digest}\n`);
  await writeFile(join(home, 'httpd.conf'), configuration(home, port));
  const child = spawn(PROGRAM, ['-f', join(home, 'httpd.conf'), '-DFOREGROUND'], { stdio: 'ignore' });
  await until('Apache to listen', async () => {
    if (child.exitCode !== null) throw new Error(`Apache ended: ${await readFile(join(home, 'error.log'), 'utf8')}`);
    return existsSync(join(home, 'pid'));
  });
  return {
    url: `http://127.0.0.1:${port}/dav%20root/`,
    username: 'reader',
    password,
    close: () => stop(child, home),
  };
}

function configuration(home: string, port: number): string {
  const modules = ['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic', 'alias'];
  const share = `"${home}/root/share dir"`;
  return [
    `ServerRoot ${home}`,
    `Listen 127.0.0.1:${port}`,
    'ServerName localhost',
    `PidFile ${home}/pid`,
    `ErrorLog ${home}/error.log`,
    'User www-data',
    'Group www-data',
    ...[...modules, 'dav', 'dav_fs'].map((it) => `LoadModule ${it}_module ${MODULES}/mod_${it}.so`),
    `DavLockDB ${home}/root/locks`,
    `Alias "/dav root" ${share}`,
    `<Directory ${share}>`,
    'Dav On',
    'AuthType Basic',
    'AuthName volume',
    `AuthUserFile ${home}/passwords`,
    'Require valid-user',
    '</Directory>',
    '',
  ].join('\n');
}

async function stop(child: ChildProcess, home: string): Promise<void> {
  const over = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null && child.kill('SIGTERM')) await over;
  await rm(home, { recursive: true, force: true });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
