import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type GuideStep, readGuide } from './read-guide.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GUIDE_MS = 240_000;
const LOOK_MS = 200;
/** Where systemd's own hierarchy of control groups is, which one started inside may manage a part of. */
const GROUPS = '/sys/fs/cgroup/systemd';

/** Why systemd cannot be started here, if so. In CI it must at least be installed. */
function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may start systemd';
  if (!existsSync(GROUPS)) return `there is no ${GROUPS}`;
  if (existsSync('/lib/systemd/systemd')) return undefined;
  if (process.env.CI === 'true') throw new Error('cannot follow docs/serve.md: systemd is not installed');
  return 'systemd is not installed';
}

const why = obstacle();
if (why !== undefined) console.warn(`docs/serve.md is not followed: ${why}`);

test.skipIf(why !== undefined)(
  'docs/serve.md, followed to the letter on a root that systemd starts, leads to a service',
  async () => {
    // What the page's first step does needs the network, which is cut off inside: there it finds all done.
    expect(spawnSync('npm', ['run', 'setup'], { cwd: ROOT, encoding: 'utf8' })).toMatchObject({ status: 0 });
    const steps = readGuide(readFileSync(join(ROOT, 'docs/serve.md'), 'utf8'));
    const { status, output } = await follow([EXPLAIN, ...steps.map(renderStep), AFTERWARDS].join('\n'));
    expect(status, output.slice(-6_000)).toBe(0);
    expect(output).toMatch(/^hello$/m);
    expect(output).toContain('main/large');
    expect(output).toContain('{"ready":true,"engines":{"main":"ready"}}');
    expect(output).toContain('the run of before is there');
  },
  300_000,
);

/** Why the unit does not do what the page promises is in its journal. */
const EXPLAIN = `trap 'journalctl --no-pager -n 40 -u sluice' ERR`;

/** Beyond the page: what was restored and upgraded still knows ada, her volume and her run. */
const AFTERWARDS = `
curl --silent --fail --retry 30 --retry-connrefused --retry-delay 1 --cacert /etc/sluice/cert.pem https://sluice.example.org:8443/readyz
cd ~ada && sed -i s/hello/again/ hello.yaml && runuser -u ada -- sluice run hello.yaml
test "$(cat ~ada/results/text)" = again
runuser -u ada -- sluice runs | grep hello && echo the run of before is there
systemctl show sluice --property=User,NRestarts
test "$(stat -c %U /var/lib/sluice/data/store)" = sluice
systemctl stop sluice
`;

function renderStep(step: GuideStep): string {
  if (step.type === 'file') return `cat > ${step.path} << 'END OF FILE'\n${step.text}END OF FILE`;
  return step.text;
}

/** Runs the commands as root on a root file system of their own, under systemd. */
async function follow(commands: string): Promise<{ status: number; output: string }> {
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
    rmSync(directory, { recursive: true, force: true });
    removeGroups(group);
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

/** Control groups are removed from within outwards, and hold only other groups once their processes are gone. */
function removeGroups(group: string): void {
  const found = spawnSync('find', [group, '-depth', '-type', 'd'], { encoding: 'utf8' }).stdout.trim().split('\n');
  for (const one of found) {
    try {
      rmdirSync(one);
    } catch {
      // A process that is still going holds it; the kernel keeps an empty group, which is no harm.
    }
  }
}
