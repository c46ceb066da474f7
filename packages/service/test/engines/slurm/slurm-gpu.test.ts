import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineRig } from '../engine-rig.ts';
import createAllocations from './create-allocation-engine.ts';
import create from './create-engine.ts';
import { hasSlurm, pidsOf, slurmRig, until } from './slurm-rig.ts';

const storage = mkdtempSync(join(tmpdir(), 'sluice-allocations-'));
process.env.SLUICE_TEST_ALLOCATIONS = storage;
const isMissing = !hasSlurm && process.env.CI !== 'true';

/** Notes which GPUs it sees, and runs until `go` is there. */
async function launchGated(rig: EngineRig, root: string, name: string) {
  const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
  const script = 'echo "$CUDA_VISIBLE_DEVICES" > /v/.$0; mv /v/.$0 /v/$0; while [ ! -e /v/go ]; do sleep 0.1; done';
  return await rig.launch({ command: ['sh', '-c', script, name], mounts, limits: { gpus: 1 } });
}

/** On the one node of the test cluster that has two GPUs, which are files there. */
describe.skipIf(isMissing).each([
  ['jobs', create],
  ['allocations', createAllocations],
] as const)('Slurm engine with GPUs, in %s', (where, make) => {
  let rig: EngineRig;

  beforeAll(async () => {
    rig = slurmRig({ partition: 'main' }, make);
    await rig.open();
  });
  afterAll(() => rig.close());

  it('gives each container its own, and lets the next one wait until there is one again', async () => {
    const root = await rig.makeDirectory('gpus');
    const containers = await Promise.all(['a', 'b', 'c'].map((name) => launchGated(rig, root, name)));
    const seen = () => ['a', 'b', 'c'].filter((name) => existsSync(join(root, name)));
    await until('two have a GPU', () => seen().length === 2);
    // In an allocation, it waits at hand of the agent.
    const waits = () =>
      where === 'allocations' ||
      containers.some(({ observations }) =>
        observations.some((one) => one.type === 'pending' && /Resources|Priority/.test(one.reason)),
      );
    await until('the third says that it waits', waits);
    const devices = seen().map((name) => readFileSync(join(root, name), 'utf8').trim());
    expect(devices.sort()).toEqual(['0', '1']);
    await rig.write('gpus/go', '');
    for (const container of containers) expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(readFileSync(join(root, 'c'), 'utf8').trim()).toMatch(/^[01]$/);
  });

  it('gives two to one container, whatever its environment says', async () => {
    const env = { CUDA_VISIBLE_DEVICES: '7' };
    const container = await rig.launch({
      command: ['sh', '-c', 'echo "$CUDA_VISIBLE_DEVICES"'],
      env,
      limits: { gpus: 2 },
    });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(await container.text()).toBe('0,1\n');
  });

  it('shows none to a container that has asked for none', async () => {
    const container = await rig.run('echo "${CUDA_VISIBLE_DEVICES-none}"');
    expect(await container.text()).toBe('none\n');
  });

  it('rejects at once more than any node has, with the words of Slurm', async () => {
    const container = await rig.prepare({ command: ['true'], limits: { gpus: 3 } });
    expect(await rig.rejection(container)).toMatchObject({
      reason: expect.stringMatching(/configuration is not available/),
    });
  });
});

describe.skipIf(isMissing)('an allocation with GPUs', () => {
  it('gives none away twice when its agent is killed', async () => {
    const rig = slurmRig({ partition: 'main' }, createAllocations);
    await rig.open();
    const root = await rig.makeDirectory('gpus');
    const first = await launchGated(rig, root, 'a');
    await until('it has a GPU', () => existsSync(join(root, 'a')));
    const { nodeID, runID } = await first.seen('running');
    const agents = pidsOf(`agent-main.js ${storage}`);
    expect(agents).not.toEqual([]);
    for (const pid of agents) process.kill(pid, 'SIGKILL');
    const second = await launchGated(rig, root, 'b');
    await until('the next one has a GPU', () => existsSync(join(root, 'b')));
    const devices = ['a', 'b'].map((name) => readFileSync(join(root, name), 'utf8').trim());
    expect(devices.sort()).toEqual(['0', '1']);
    await rig.write('gpus/go', '');
    for (const container of [first, second]) {
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await container.seen('running')).toMatchObject({ nodeID });
    }
    expect((await first.seen('running')).runID).toBe(runID);
    await rig.close();
  });
});
