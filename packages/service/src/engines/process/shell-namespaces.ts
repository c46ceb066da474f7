import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';

/** The namespaces of the launcher, which its containers share. */
export type ShellNamespaces = 'mapped' | 'unmapped' | 'none';

/**
 * Words before the launcher's command line. An ordinary user has only itself in the user namespace; for root, all users are
 * mapped from outside; and root works without a user namespace if the machine forbids them.
 */
export const shellNamespaces: Readonly<Record<ShellNamespaces, readonly string[]>> = {
  mapped: ['unshare', '--user', '--map-current-user', '--keep-caps', '--ipc'],
  unmapped: ['unshare', '--user', '--keep-caps', '--ipc'],
  none: ['unshare', '--ipc'],
};

/** The search path with the system directories: Debian installs pivot_root outside of an ordinary user's path. */
export function shellSearchPath(): string {
  return `${process.env.PATH ?? '/usr/bin:/bin'}:/usr/sbin:/sbin`;
}

/** Tests which namespaces work here; rejects with the message of the kernel or about a missing tool. */
export async function findShellNamespaces(prefix: readonly string[]): Promise<ShellNamespaces> {
  const script = [
    'for tool in unshare setpriv mount umount pivot_root; do command -v $tool >/dev/null || { echo "no $tool (util-linux)" >&2; exit 1; }; done',
    'try="--mount --pid --fork --kill-child mount --make-rprivate /"',
    `if [ "$(id -u)" != 0 ]; then echo mapped; ${shellNamespaces.mapped.join(' ')} $try`,
    `elif ${shellNamespaces.unmapped.join(' ')} --mount true 2>/dev/null; then echo unmapped`,
    `else echo none; ${shellNamespaces.none.join(' ')} $try; fi`,
  ].join('\n');
  const [command, ...args] = [...prefix, 'sh', '-c', script];
  const child = spawn(command ?? 'sh', args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    env: { PATH: shellSearchPath() },
  });
  let entry = '';
  child.stdout.on('data', (chunk: Buffer) => {
    entry += chunk.toString();
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(complaint.trim() || `unshare ended with code ${code}`);
  return entry.trim() as ShellNamespaces;
}

/**
 * Maps every user of this machine to itself in the launcher's user namespace. Only a process outside the namespace may do
 * that.
 */
export async function mapUsers(child: ChildProcessByStdio<Writable, Readable, null>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`unshare ended with ${signal ?? `code ${code}`}`)));
    child.stdout.once('data', () => resolve());
  });
  for (const file of ['uid_map', 'gid_map']) {
    const ranges = (await readFile(`/proc/self/${file}`, 'utf8')).trim().split('\n');
    const lines = ranges
      .map((range) => range.trim().split(/\s+/))
      .map(([inside, , count]) => `${inside} ${inside} ${count}\n`);
    await writeFile(`/proc/${child.pid}/${file}`, lines.join(''));
  }
  child.stdin.write('\n');
}
