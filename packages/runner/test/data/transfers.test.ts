import type { Step } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { createStep } from '../../../run/test/plans.ts';
import { across, clusters, createTwoClusters, expectOwnVolumes, type TwoClusters, writes } from './two-clusters.ts';

const step = (name: string, more: Partial<Step> = {}): Step => {
  const { instanceType: _, ...rest } = createStep(name, more);
  return rest;
};
const out = { outputs: { data: { path: '/out', retain: true } } };
const reads = (name: string) => ({ inputs: { data: { from: { step: name, output: 'data' }, path: '/in/data' } } });
const matrix = { matrix: { axes: { n: [1, 2] }, include: [], exclude: [] } };

describe('a run over two clusters', () => {
  test('brings each output once to the cluster that reads it, and back', async () => {
    const world: TwoClusters = createTwoClusters('split', {
      behave: Object.fromEntries(
        ['make', 'big', 'last'].map((name) => [name, { work: writes(() => world.rig, name) }]),
      ),
    });
    const handle = await world.start([
      step('make', { ...matrix, ...out }),
      step('big', { ...matrix, ...reads('make'), ...out, resources: { cpu: 8 } }),
      step('last', { ...reads('big'), ...out }),
    ]);
    const report = await world.rig.go(handle.finished);
    expect(report).toMatchObject({ status: 'succeeded' });
    expect(clusters(world.rig).sort()).toEqual(['big far', 'big far', 'last sim', 'make sim', 'make sim']);
    expectOwnVolumes(world);
    expect(across(world.rig).map((event) => event.type === 'transfer' && [event.name, event.files])).toEqual([
      ['make.data', 1],
      ['make.data', 1],
      ['big.data', 1],
      ['big.data', 1],
    ]);
    const home = [...world.volumes].find(([, cluster]) => cluster === 'sim')![0];
    const files = world.rig.simulated.volumes.get(home)!.files;
    expect(files.has(`runs/${handle.runId}/out/big/data/n-1/file.txt`)).toBe(true);
    expect(files.has(`runs/${handle.runId}/out/big/data/manifest.json`)).toBe(true);
  });

  test('copies an output once for all inputs, also for a path in it', async () => {
    const world: TwoClusters = createTwoClusters('paths', {
      behave: { make: { work: writes(() => world.rig, 'make') } },
    });
    const file = { from: { step: 'make', output: 'data', path: 'file.txt' }, path: '/in/file' };
    const inputs = { ...reads('make').inputs, file };
    const handle = await world.start([step('make', out), step('big', { inputs, resources: { cpu: 8 } })]);
    expect(await world.rig.go(handle.finished)).toMatchObject({ status: 'succeeded' });
    expectOwnVolumes(world);
    expect(across(world.rig).map((event) => event.type === 'transfer' && event.name)).toEqual(['make.data']);
    const mounts = Object.entries(world.rig.created()[1]?.wire.volumeMounts ?? {});
    expect(mounts.map(([key, path]) => [key.slice(key.indexOf(':') + 1), path])).toEqual([
      [`runs/${handle.runId}/out/make/data`, '/in/data'],
      [`runs/${handle.runId}/out/make/data/file.txt`, '/in/file'],
    ]);
  });

  test('goes to the next cluster after an infrastructure failure, and its outputs are found there', async () => {
    const lost: string[] = [];
    const world: TwoClusters = createTwoClusters('relocate', {
      behave: {
        work: {
          get end() {
            return lost.push('work') === 1 ? ('Unknown' as const) : ('Succeeded' as const);
          },
          work: writes(() => world.rig, 'work'),
        },
      },
    });
    const handle = await world.start([
      step('work', { ...out, placement: { ordered: ['sim', 'far'] } }),
      step('after', reads('work')),
    ]);
    expect(await world.rig.go(handle.finished)).toMatchObject({ status: 'succeeded' });
    expect(clusters(world.rig)).toEqual(['work sim', 'work far', 'after sim']);
    expectOwnVolumes(world);
  });

  test('continues a transfer that its runner left, and keeps the placement', async () => {
    const world: TwoClusters = createTwoClusters('resume', {
      behave: { make: { work: writes(() => world.rig, 'make') } },
    });
    const first = await world.start([
      step('make', { ...matrix, ...out }),
      step('big', { ...reads('make'), resources: { cpu: 8 } }),
    ]);
    await world.rig.until(() => across(world.rig).length === 1);
    await world.rig.go(first.suspend());
    const handle = await world.resume(first.runId);
    expect(await world.rig.go(handle.finished)).toMatchObject({ status: 'succeeded' });
    expect(clusters(world.rig)).toEqual(['make sim', 'make sim', 'big far']);
    expectOwnVolumes(world);
  });

  test.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'brings everything across whole although calls are lost and the runner goes away, seed %d',
    async (seed) => {
      let trouble = false;
      const rate = (value: number) => (trouble ? value : 0);
      const world: TwoClusters = createTwoClusters(`faults ${seed}`, {
        faults: {
          get replyLost() {
            return rate(0.1);
          },
          get broken() {
            return rate(0.15);
          },
          get throttled() {
            return rate(0.1);
          },
        },
        behave: Object.fromEntries(
          ['make', 'big', 'back'].map((name) => [name, { work: writes(() => world.rig, name), runMs: 2000 }]),
        ),
      });
      const first = await world.start([
        step('make', { ...matrix, ...out }),
        step('big', { ...matrix, ...reads('make'), ...out, resources: { cpu: 8 } }),
        step('back', { ...reads('big'), ...out }),
      ]);
      trouble = true;
      await world.rig.until(() => world.rig.created().length >= 1 + (seed % 4));
      await world.rig.go(first.suspend());
      trouble = false;
      const resumed = world.resume(first.runId);
      const handle = await resumed;
      trouble = true;
      const report = await world.rig.go(handle.finished);
      expect(report, JSON.stringify(report.failures)).toMatchObject({ status: 'succeeded' });
      expect(clusters(world.rig).sort()).toEqual(['back sim', 'big far', 'big far', 'make sim', 'make sim']);
      expectOwnVolumes(world);
      const home = [...world.volumes].find(([, cluster]) => cluster === 'sim')![0];
      const { files } = world.rig.simulated.volumes.get(home)!;
      for (const cell of ['n-1', 'n-2']) {
        const path = `runs/${first.runId}/out/big/data/${cell}/file.txt`;
        expect(Buffer.from(files.get(path)!).toString()).toBe('big');
      }
    },
  );

  test('keeps to the limits of a cluster and of an instance type', async () => {
    const world = createTwoClusters('limits', { behave: { many: { runMs: 10_000 } } });
    const cells = { matrix: { axes: { n: [1, 2, 3, 4, 5] }, include: [], exclude: [] } };
    const handle = await world.start([step('many', cells), step('big', { ...cells, resources: { cpu: 8 } })], {
      limits: { clusters: { sim: 2 }, instanceTypes: { 'sim-8': 1 } },
    });
    let most = { sim: 0, far: 0 };
    let over = false;
    void handle.finished.then(() => {
      over = true;
    });
    await world.rig.until(() => {
      const live = world.rig.created().filter(({ live }) => live);
      const on = (cluster: string) => live.filter(({ wire }) => wire.clusterID === cluster).length;
      most = { sim: Math.max(most.sim, on('sim')), far: Math.max(most.far, on('far')) };
      return over;
    });
    expect(most).toEqual({ sim: 2, far: 1 });
  });

  test('ends at once where a limit lets nothing start', async () => {
    const world = createTwoClusters('none');
    const handle = await world.start([step('big', { resources: { cpu: 8 } })], {
      limits: { instanceTypes: { 'sim-8': 0 } },
    });
    const report = await world.rig.go(handle.finished);
    expect(report.status).toBe('failed');
    expect(report.message).toContain('big waits for limit instance type sim-8: needs 1, 0 of 0 are in use');
  });
});
