import { readdirSync, readFileSync } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { EngineRig, type RigContainer } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';

const WAYS = hasNamespaces ? (['namespaces', 'rewriting'] as const) : (['rewriting'] as const);

describe.each(WAYS)('shell launcher by %s, when the shell around a container is killed with -9', (mountsBy) => {
  const rig = new EngineRig(() => createProcessEngine({ launcher: 'shell', mountsBy }));
  beforeAll(() => rig.open());
  afterAll(() => rig.close());

  /** A command with a child in a session of its own, both of which can be told from all other processes. */
  const launch = async (mark: string): Promise<RigContainer> => {
    const script = `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done; : ${mark}' & echo up; while :; do sleep 1; done; : ${mark}`;
    const container = await rig.launch({ command: ['sh', '-c', script] });
    await rig.untilLog(container, 'up');
    // A process has no command line while it executes another program.
    await vi.waitUntil(() => findMarked(mark).length >= 2, { timeout: 120_000 });
    return container;
  };

  const killShell = async ({ launch: { directory } }: RigContainer) => {
    const [pid] = (await readlink(join(directory, 'claim'))).split(' ');
    process.kill(Number(pid), 'SIGKILL');
  };

  test('its end is not reported before everything in it is gone', async () => {
    const mark = `seen-${process.pid}-${mountsBy}`;
    const container = await launch(mark);
    await killShell(container);
    expect(await container.end()).toMatchObject({ kind: 'fault', reason: expect.stringContaining('no exit record') });
    expect(findMarked(mark)).toEqual([]);
  });

  test('nothing of it runs on after a restart of the service, in which it happened', async () => {
    const mark = `missed-${process.pid}-${mountsBy}`;
    const container = await launch(mark);
    await rig.leave();
    container.forget();
    await killShell(container);
    await rig.start();
    await rig.engine.recover([container.launch]);
    expect(await container.end()).toMatchObject({ kind: 'fault' });
    expect(findMarked(mark)).toEqual([]);
  });
});

/** Processes that have not ended and whose command line holds `mark`. */
function findMarked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
}
