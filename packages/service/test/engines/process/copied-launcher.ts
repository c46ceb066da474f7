import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const native = fileURLToPath(new URL('../../../native', import.meta.url));

/** Not so without capabilities, whatever the user ID: no other user can be taken then. */
export const isRoot =
  process.getuid?.() === 0 && spawnSync('setpriv', ['--reuid=65534', '--clear-groups', 'true']).status === 0;
export const nobody = { uid: 65534, gid: 65534 };
/** Words before a command that make it run as `nobody`. */
export const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
/** Without a C compiler there is no native launcher; where everything is tested that is a fault. */
export const isBuilt = existsSync(join(native, 'build', 'launcher')) || process.env.CI === 'true';

/** Copies the launchers to where every user reaches them. */
export async function copyLauncher(): Promise<{ launcherPath: string; remove: () => Promise<void> }> {
  const copy = await mkdtemp(join(tmpdir(), 'sluice-native-'));
  await chmod(copy, 0o755);
  await mkdir(join(copy, 'build'));
  for (const name of ['launcher.sh', 'container.sh', 'build/launcher']) {
    if (existsSync(join(native, name))) await copyFile(join(native, name), join(copy, name));
  }
  return {
    launcherPath: join(copy, 'build', 'launcher'),
    remove: () => rm(copy, { recursive: true, force: true }),
  };
}
