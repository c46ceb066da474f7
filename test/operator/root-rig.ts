import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GUIDE_MS = 240_000;
const LOOK_MS = 200;
/** Where systemd's own hierarchy of control groups is, which one started inside may manage a part of. */
const GROUPS = '/sys/fs/cgroup/systemd';

/** Why systemd cannot be started here, if so. In CI it must at least be installed. */
export function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may start systemd';
  if (!existsSync(GROUPS)) return `there is no ${GROUPS}`;
  if (existsSync('/lib/systemd/systemd')) return undefined;
  if (process.env.CI === 'true') throw new Error('cannot follow docs/serve.md: systemd is not installed');
  return 'systemd is not installed';
}

/** Runs the commands as root on a root file system of their own, under systemd. */
export async function follow(commands: string): Promise<{ status: number; output: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-guide-'));
  const group = join(GROUPS, `sluice-guide-${process.pid}`);
  mkdirSync(group);
  writeFileSync(join(directory, 'guide.sh'), commands);
  writeFileSync(join(directory, 'installed-packages'), installedAt('/opt/sluice/'));
  const boot = fileURLToPath(new URL('boot-root.sh', import.meta.url));
  const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup', '--fork', '--kill-child'];
  const script = `echo $$ > ${group}/cgroup.procs && exec unshare ${namespaces.join(' ')} ${boot} ${directory} ${ROOT}`;
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += chunk));
  const ended = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    await removeGroups(group);
  });
  const file = (name: string) => join(directory, name);
  for (let waited = 0; waited < GUIDE_MS && child.exitCode === null; waited += LOOK_MS) {
    if (existsSync(file('status'))) break;
    await delay(LOOK_MS);
  }
  const output = existsSync(file('output')) ? readFileSync(file('output'), 'utf8') : errors;
  return { status: existsSync(file('status')) ? Number(readFileSync(file('status'), 'utf8')) : -1, output };
}

/** What `npm run setup` leaves to know that the packages of a checkout there are installed. */
function installedAt(root: string): string {
  const script = `import('./scripts/workspace.mjs').then((it) => console.log(it.installFingerprint('${root}')))`;
  return spawnSync(process.execPath, ['-e', script], { cwd: ROOT, encoding: 'utf8' }).stdout.trim();
}

/** From within outwards; an end that was asked for takes a moment to reach every process that holds a group. */
async function removeGroups(group: string): Promise<void> {
  for (let look = 0; look < 50 && existsSync(group); look++) {
    const found = spawnSync('find', [group, '-depth', '-type', 'd'], { encoding: 'utf8' }).stdout.trim().split('\n');
    spawnSync('rmdir', found);
    if (existsSync(group)) await delay(LOOK_MS);
  }
}
