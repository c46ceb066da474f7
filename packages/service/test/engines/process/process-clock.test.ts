import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';

const native = fileURLToPath(new URL('../../../native', import.meta.url));
const hasCompiler = spawnSync(process.env.CC ?? 'cc', ['--version']).status === 0;

/** Each time that somebody asks, the wall clock is a day further than it was. */
const RACING_CLOCK = `
#include <time.h>
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
  static long days;
  int result = __real_clock_gettime(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += 86400 * ++days;
  return result;
}
`;

// The launcher with the racing clock is compiled without the mode that translates paths.
const cannotRun = !hasNamespaces || (!hasCompiler && process.env.CI !== 'true');

describe.skipIf(cannotRun)('process engine on a machine whose clock is set', () => {
  let rig: EngineRig;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-clock-'));
    const launcherPath = join(directory, 'launcher');
    await writeFile(join(directory, 'clock.c'), RACING_CLOCK);
    const units = (await readdir(native)).filter((name) => name.endsWith('.c')).map((name) => join(native, name));
    const flags = [
      '-std=gnu11',
      '-O1',
      '-DNO_TRANSLATION',
      '-I',
      native,
      '-Wl,--wrap=clock_gettime',
      '-o',
      launcherPath,
    ];
    const made = spawnSync(process.env.CC ?? 'cc', [...flags, ...units, join(directory, 'clock.c')]);
    if (made.status !== 0) throw new Error(`could not compile the launcher: ${made.stderr.toString()}`);
    rig = new EngineRig(() => createProcessEngine({ launcher: 'native', launcherPath }));
    await rig.open();
  });
  afterAll(async () => {
    await rig?.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('a container that is stopped has all of its grace', async () => {
    const root = await rig.makeDirectory('gate');
    // Not one of the rig's: it would read what is meant for the container.
    spawnSync('mkfifo', [join(root, 'open')]);
    const script =
      'trap \'echo asked; read -r word </gate/open; echo "$word"; exit 0\' TERM; echo up; while :; do sleep 0.05; done';
    const container = await rig.launch({
      command: ['sh', '-c', script],
      mounts: [{ root, subPath: '', kind: 'dir', target: '/gate' }],
    });
    await rig.untilLog(container, 'up');
    await rig.engine.stop(container.launch.key, { graceMs: 60_000 });
    await rig.untilLog(container, 'asked');
    await writeFile(join(root, 'open'), 'in time\n');
    expect(await container.end()).toEqual({ kind: 'stopped' });
    expect(await container.text()).toBe('up\nasked\nin time\n');
  });
});
