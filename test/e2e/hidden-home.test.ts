import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, parseLines, type Started, until, type Workplace } from './workplace-rig.ts';

/** Not below `/tmp`, because each container has its own. */
const PARENT = '/var/tmp';
const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

/** Prints each directory that is not empty, and the token of the run API wherever it can be read. */
const LOOK = `for d in "$@" /proc/[0-9]*/root"$1" /proc/[0-9]*/cwd/.sluice; do
  [ -z "$(ls -A "$d" 2>/dev/null)" ] || echo "sees $d"
  for f in host/api.json host/host.sock service.sock made-here runs secrets/own; do
    [ ! -e "$d/$f" ] || echo "finds $d/$f"
  done
  cat "$d/host/api.json" 2>/dev/null && echo
done
cat "$0/profiles/default.yaml" 2>/dev/null
echo looked
exit 0
`;

let place: Workplace;
let alias: string;
let ui: Started | undefined;

beforeEach(() => {
  place = createWorkplace(undefined, PARENT);
  alias = mkdtempSync(join(PARENT, 'sluice-alias-'));
});

afterEach(async () => {
  ui?.process.kill('SIGTERM');
  await ui?.ended;
  place.remove();
  rmdirSync(alias);
});

/** Runs the script in a container of the process that shows the runs, and returns what it printed. */
async function look(config: string, places: readonly string[]): Promise<string> {
  const command = JSON.stringify(['sh', '-c', LOOK, config, ...places]);
  writeFileSync(
    join(place.directory, 'pipeline.yaml'),
    `version: 1\nname: look\nsteps:\n  look: { command: ${command} }\n`,
  );
  const { exitCode, stdout, stderr } = await place.sluice('run', '--detach', '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const { runId } = parseLines<{ runId: string }>(stdout).at(-1)!;
  expect((await place.sluice('attach', runId)).exitCode).toBe(0);
  return (await place.sluice('logs', '-r', runId, 'look')).stdout;
}

test.skipIf(!canMount)(
  'a container sees nothing of the home and of the profiles, by any name that they have',
  async () => {
    const link = join(place.directory, 'link');
    const config = join(place.directory, '.user/config/sluice');
    mkdirSync(join(place.home, 'secrets'), { recursive: true, mode: 0o700 });
    writeFileSync(join(place.home, 'secrets/own'), 'hidden', { mode: 0o600 });
    symlinkSync(place.home, link);
    mkdirSync(join(config, 'profiles'), { recursive: true });
    writeFileSync(join(config, 'profiles/default.yaml'), 'limits: {} # the profile\n');
    const bind = ['unshare', '--mount', 'sh', '-c', `mount --bind '${place.directory}' '${alias}' && exec "$@"`, 'sh'];
    ui = place.start(['ui', '--listen', '127.0.0.1:0'], { isEndless: true, prefix: bind });
    await until(() => ui?.stdout().includes('\n') === true, 'the link');
    const names = [place.home, link, join(alias, '.sluice'), join(alias, 'link')];
    expect(await look(config, names)).toBe('looked\n');
  },
);
