import { describe, expect, test } from 'vitest';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createProcess } from '../simulation/simulated-process.ts';
import { createTemporaryWorld, planOf, statesOf, type TemporaryWorld } from './temporary-world.ts';

const CHAIN = `
params: { samples: [S1, S2] }
axes: { sample: "\${{ params.samples }}" }
defaults: { cache: true }
steps:
  align: { each: sample, command: [align], outputs: { bam: { temporary: true }, extra: { temporary: true } } }
  sort: { each: sample, inputs: { bam: align.bam }, command: [sort], outputs: { bam: { temporary: true }, log: {} } }
  call: { each: sample, inputs: { bam: sort.bam }, command: [call], outputs: [vcf] }
  table: { inputs: { vcf: call.vcf }, command: [table], outputs: [t] }
`;

const QC = '{ each: sample, inputs: { bam: sort.bam }, command: [qc], outputs: [q] }';

const left = (world: TemporaryWorld) => ({
  published: world
    .filesOf('/out/')
    .map((file) => file.replace(/^runs\/[^/]*\/out\//, ''))
    .sort(),
  removed: world.filesOf('/removed/'),
});

const PUBLISHED = [
  ...['call/vcf/S1/data', 'call/vcf/S2/data', 'call/vcf/manifest.json'],
  ...['sort/log/S1/data', 'sort/log/S2/data', 'table/t/data'],
];

describe('a temporary output', () => {
  test('is removed when the cells that mount it have succeeded, each cell by itself', async () => {
    const world = createTemporaryWorld('chain');
    world.behave.call = { runMs: 5000 };
    const started = await world.rig.go(startRun({ ...world.rig.options, plan: planOf(CHAIN), baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    await world.rig.until(() => world.ran().includes('call/S1'));
    await world.rig.go(world.rig.clock.delay(1000));
    // `align` is no longer needed, `sort` is mounted.
    expect(world.filesOf('/out/align/')).toEqual([]);
    expect(world.filesOf('/out/sort/bam/')).toHaveLength(2);
    await world.rig.go(started.value.finished);
    expect({ ...left(world), missing: world.missing }).toEqual({
      published: PUBLISHED,
      removed: [],
      missing: [],
    });
  });

  test('stays if a cell that mounts it has failed, and a rerun reads it', async () => {
    const world = createTemporaryWorld('failed');
    world.behave.call = { endOf: ({ labels }) => (labels?.['sluice-cell'] === 'S1' ? 'Failed' : 'Succeeded') };
    const failed = await world.run(planOf(CHAIN));
    expect(world.filesOf('/out/sort/bam/')).toEqual([expect.stringContaining('/S1/')]);
    world.ran();
    delete world.behave.call;
    const rerun = await world.run(planOf(CHAIN), { reuse: { runId: failed.runId, from: [] } });
    expect(rerun.status).toBe('succeeded');
    expect(world.ran()).toEqual(['call/S1', 'table']);
    expect(world.missing).toEqual([]);
  });

  test('is read by a step of `finally`, and by one whose cells are known late', async () => {
    const world = createTemporaryWorld('late');
    const body = `
steps:
  a: { command: [a], outputs: { o: { temporary: true }, p: { temporary: true }, q: { temporary: true } } }
  slow: { command: [slow], outputs: [o] }
  late: { foreach: "\${{ steps.slow.status == 'succeeded' ? ['x', 'y'] : ['z'] }}", command: [late], inputs: { o: a.o } }
  empty: { needs: [slow], foreach: "\${{ steps.slow.status == 'succeeded' ? [] : ['z'] }}", command: [late], inputs: { q: a.q } }
finally:
  last: { command: [last], inputs: { p: a.p } }
`;
    world.behave.slow = { runMs: 5000 };
    const report = await world.run(planOf(body));
    expect(statesOf(report)).toMatchObject({ late: 'succeeded succeeded', last: 'succeeded' });
    expect(world.missing).toEqual([]);
    expect(world.filesOf('/out/a/')).toEqual([]);
  });

  test('is removed item by item, also if a step lists the items', async () => {
    const world = createTemporaryWorld('listed');
    const body = `
axes: { sample: [S1, S2], shard: { items: "\${{ steps.split.results.parts }}" } }
steps:
  split: { each: sample, command: [split], outputs: { o: { temporary: true } }, results: { parts: array } }
  work: { each: shard, command: [work], inputs: { o: split.o }, outputs: { o: { temporary: true } } }
  join: { each: sample, command: [join], inputs: { o: work.o, first: split.o }, outputs: [o] }
`;
    const isFirst = (labels: Readonly<Record<string, string>> = {}) => labels['sluice-cell'] === 'S1';
    world.resultOf = ({ labels }) => (isFirst(labels) ? '["a", "b", "c"]' : '["d", "e"]');
    world.behave.join = { endOf: ({ labels }) => (isFirst(labels) ? 'Succeeded' : 'Failed') };
    const report = await world.run(planOf(body));
    expect(report.status).toBe('failed');
    expect(world.missing).toEqual([]);
    const places = world.filesOf('/out/').map((file) => file.replace(/^runs\/[^/]*\/out\//, ''));
    expect(places.filter((file) => file.endsWith('/data')).sort()).toEqual([
      ...['join/o/S1/data', 'split/o/S2/data', 'work/o/S2/d/data', 'work/o/S2/e/data'],
    ]);
  });

  test('of a cell is kept for readers that may have a lost container', async () => {
    const world = createTemporaryWorld('lost');
    let calls = 0;
    world.behave.call = {
      get vanishes() {
        return ++calls === 1;
      },
    };
    const report = await world.run(planOf(CHAIN));
    expect(report.status).toBe('succeeded');
    expect(world.filesOf('/out/sort/bam/')).toHaveLength(1);
    expect(world.filesOf('/out/align/')).toEqual([]);
  });
});

describe('a success whose temporary outputs were removed', () => {
  test('is reused without them: a new sample runs only its own cells and the fan-in', async () => {
    const world = createTemporaryWorld('added');
    await world.run(planOf(CHAIN));
    world.ran();
    const report = await world.run(planOf(CHAIN, { samples: ['S1', 'S2', 'S3'] }));
    expect(world.ran()).toEqual(['align/S3', 'sort/S3', 'call/S3', 'table']);
    expect(statesOf(report)).toMatchObject({ align: 'reused reused succeeded' });
    expect(world.missing).toEqual([]);
  });

  test('is computed again if a cell that runs mounts them, with those before it, and changes nothing else', async () => {
    const world = createTemporaryWorld('again');
    const body = `${CHAIN.replace('params: {', 'params: { qc: 1,')}  qc: ${QC.replace('[qc]', '[qc, "${{ params.qc }}"]')}`;
    await world.run(planOf(body));
    world.ran();
    const report = await world.run(planOf(body, { qc: 2 }));
    expect(world.ran().sort()).toEqual(['align/S1', 'align/S2', 'qc/S1', 'qc/S2', 'sort/S1', 'sort/S2']);
    expect(statesOf(report)).toMatchObject({ call: 'reused reused', table: 'reused', qc: 'succeeded succeeded' });
    // And again, from what the second run has restored.
    await world.run(planOf(body, { qc: 3 }));
    expect(world.ran()).toHaveLength(6);
    await world.run(planOf(body, { qc: 3 }));
    expect(world.ran()).toEqual([]);
    expect({ missing: world.missing, align: world.filesOf('/out/align/') }).toEqual({ missing: [], align: [] });
  });

  test('is computed again while the run that has its outputs has not ended, since that run may remove them', async () => {
    const world = createTemporaryWorld('parallel');
    world.behave.call = { runMs: 60_000 };
    const { rig } = world;
    const body = CHAIN.replace('steps:', `steps:\n  qc: ${QC}`);
    const first = await rig.go(startRun({ ...rig.options, plan: planOf(CHAIN), baseDir: '/base' }));
    if (!first.ok) throw new Error(first.error.message);
    await rig.until(() => world.ran().includes('call/S2'));
    await rig.go(rig.clock.delay(100));
    expect(world.filesOf('/out/sort/bam/')).toHaveLength(2);
    await world.run(planOf(body));
    expect(world.ran()).toEqual(expect.arrayContaining(['align/S1', 'sort/S1', 'qc/S1']));
    await rig.go(first.value.finished);
    expect(world.missing).toEqual([]);
  });
});

describe('a run with temporary outputs', () => {
  const plan = planOf(CHAIN, { samples: ['S1'] });

  test.each(['before', 'after'] as const)('goes on after a crash %s every operation', async (when) => {
    let isOver = false;
    for (let operation = 1; !isOver; operation++) {
      const world = createTemporaryWorld('crash');
      const { clock, disk, options } = world.rig;
      const process = createProcess({
        ...{ clock, disk, service: options.service },
        onOperation: (number, moment) => {
          if (number === operation && moment === when) process.kill();
        },
      });
      const given = { ...options, clock: process.clock, disk: process.disk, service: process.service };
      const starting = startRun({ ...given, runId: 'crashed', plan, baseDir: '/base' });
      const ended = starting.then(async (started) => (started.ok ? started.value.finished : undefined));
      await world.rig.go(Promise.race([ended, process.died]));
      isOver = process.operations < operation;
      const resumed = await world.rig.go(resumeRun({ ...options, runId: 'crashed' }));
      if (resumed.ok) await world.rig.go(resumed.value.finished);
      const names = world.ran();
      // It was removed as one that had never begun.
      if (names.length === 0) continue;
      expect({ ...left(world), missing: world.missing, names }, `operation ${operation}`).toEqual({
        published: ['call/vcf/S1/data', 'call/vcf/manifest.json', 'sort/log/S1/data', 'table/t/data'],
        removed: [],
        missing: [],
        names: ['align/S1', 'sort/S1', 'call/S1', 'table'],
      });
    }
  });
});
