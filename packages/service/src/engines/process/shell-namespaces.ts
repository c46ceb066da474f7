import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';

/** What the launcher is in; its containers share it. */
export type ShellNamespaces = 'mapped' | 'unmapped' | 'none';

/**
 * Words before the launcher: an ordinary user is alone in the user namespace, the users of root are mapped from outside,
 * and root can do without where the machine has switched user namespaces off.
 */
export const shellNamespaces: Readonly<Record<ShellNamespaces, readonly string[]>> = {
  mapped: ['unshare', '--user', '--map-current-user', '--keep-caps', '--ipc'],
  unmapped: ['unshare', '--user', '--keep-caps', '--ipc'],
  none: ['unshare', '--ipc'],
};

/** Debian has pivot_root where ordinary users do not look. */
export function shellSearchPath(): string {
  return `${process.env.PATH ?? '/usr/bin:/bin'}:/usr/sbin:/sbin`;
}

/** What works here; rejects with what the kernel or a missing tool said. */
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

/** Every user that there is here, as itself, in the user namespace of the launcher: only a process outside may do that. */
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
