import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineRig, RigContainer } from '../engine-rig.ts';
import create from './create-allocation-engine.ts';
import { hasSlurm, slurm, slurmRig, until } from './slurm-rig.ts';

const CORES = 4;
const list = () =>
  slurm('squeue', '--noheader', '--name=sluice-allocation', '--states=PENDING,RUNNING', '--format=%i|%N')
    .split('\n')
    .filter(Boolean);

describe.skipIf(!hasSlurm && process.env.CI !== 'true')('an allocation of two nodes', () => {
  let rig: EngineRig;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-allocations-'));
    process.env.SLUICE_TEST_ALLOCATIONS = directory;
    process.env.SLUICE_TEST_ALLOCATION_NODES = '2';
    rig = slurmRig({ partition: 'main' }, create);
    await rig.open();
  });
  afterAll(async () => {
    delete process.env.SLUICE_TEST_ALLOCATION_NODES;
    await rig.close();
    for (const line of list()) slurm('scancel', line.split('|')[0]!);
    await until('the allocations have ended', () => list().length === 0);
    rmSync(directory, { recursive: true, maxRetries: 5 });
  });

  /** As many containers as two nodes have cores; each waits for the file `go`. */
  async function fill(
    name: string,
  ): Promise<{ readonly containers: RigContainer[]; readonly end: () => Promise<void> }> {
    const root = await rig.makeDirectory(name);
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const command = ['sh', '-c', 'echo started >>/v/starts; until [ -e /v/go ]; do sleep 0.05; done; exit 3'];
    const containers = await Promise.all(
      Array.from({ length: 2 * CORES }, () => rig.launch({ command, mounts, limits: { cores: 1 } })),
    );
    const end = async () => {
      // No core is free for a container that does it.
      await writeFile(join(root, 'go'), '');
      for (const container of containers) expect(await container.end()).toEqual({ kind: 'exited', exitCode: 3 });
      expect(await readFile(join(root, 'starts'), 'utf8')).toBe('started\n'.repeat(2 * CORES));
    };
    return { containers, end };
  }

  const nodesOf = async (containers: readonly RigContainer[]) => {
    const seen = await Promise.all(containers.map((container) => container.seen('running')));
    return seen.map(({ nodeID }) => nodeID).sort();
  };

  test('is one job, and runs containers on both, each of which Slurm names', async () => {
    const { containers, end } = await fill('both');
    const nodes = await nodesOf(containers);
    expect(list()).toHaveLength(1);
    const names = slurm('scontrol', 'show', 'hostnames', list()[0]!.split('|')[1]!).trim().split('\n');
    expect(names).toHaveLength(2);
    expect(nodes).toEqual(names.flatMap((name) => Array.from({ length: CORES }, () => name)));
    await end();
  });

  test('goes on when the agents are killed, and with the next service', async () => {
    const { containers, end } = await fill('killed');
    await nodesOf(containers);
    // Neither what starts them again, nor srun.
    execFileSync('pkill', ['-KILL', '-f', `^[^ ]*node [^ ]*allocation/agent-main.js ${directory}/`]);
    await rig.leave();
    for (const container of containers) container.forget();
    await rig.start();
    await rig.engine.recover(containers.map(({ launch }) => launch));
    expect(new Set(await nodesOf(containers)).size).toBe(2);
    await end();
    expect(list()).toHaveLength(1);
  });

  test('ends all its containers as a fault of their own, which costs no retry', async () => {
    const { containers } = await fill('ended');
    await nodesOf(containers);
    slurm('scancel', list()[0]!.split('|')[0]!);
    for (const container of containers)
      expect(await container.end()).toEqual({ kind: 'fault', reason: expect.stringMatching(/^allocation ended/) });
    const files = () => readdirSync(join(directory, 'allocations'), { withFileTypes: true });
    await until('the files of both nodes are removed', () => !files().some((file) => file.isDirectory()));
  });

  test('ends when both nodes had nothing to do', async () => {
    const { containers, end } = await fill('idle');
    await nodesOf(containers);
    await end();
    await until('it has ended', () => list().length === 0);
  });
});
