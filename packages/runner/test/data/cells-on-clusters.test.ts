import { createPlan, type Plan, parsePipeline } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { across, createTwoClusters, expectOwnVolumes, type TwoClusters, writes } from './two-clusters.ts';

const ITEMS = '[{ id: S1, at: far, other: sim }, { id: S2, at: sim, other: far }, { id: S3, at: far, other: sim }]';

function planOf(steps: string, items = ITEMS): Plan {
  const text = `version: 1
name: demo
axes:
  sample:
    items: ${items}
    key: "\${{ item.id }}"
  unit:
    items: [{ id: u1, sample: S1 }, { id: u2, sample: S2 }, { id: u3, sample: S1 }]
    key: "\${{ item.id }}"
    of: { sample: sample }
steps:
${steps}`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline);
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

const PLACED = 'command: [x], outputs: [data], placement: { cluster: "${{ each.sample.at }}" }';

const PLAN = planOf(`  align: { each: unit, ${PLACED} }
  merge: { each: sample, ${PLACED}, inputs: { units: { from: align.data, optional: true } } }
  call: { each: sample, ${PLACED}, inputs: { bam: merge.data } }
  far: { each: sample, command: [x], outputs: [data], placement: { cluster: far }, inputs: { vcf: call.data } }
  table: { command: [x], inputs: { vcf: far.data, bam: merge.data } }
`);

function createWorld(seed: string): TwoClusters {
  const world: TwoClusters = createTwoClusters(seed, {
    behave: Object.fromEntries(
      PLAN.steps.map(({ step: { name } }) => [name, { work: writes(() => world.rig, name), runMs: 2000 }]),
    ),
  });
  return world;
}

const copies = ({ rig }: TwoClusters) => across(rig).map((event) => (event.type === 'transfer' ? event.name : ''));
const cells = ({ rig }: TwoClusters) =>
  rig
    .created()
    .map(({ wire: { labels, clusterID } }) => `${labels?.['sluice-step']}/${labels?.['sluice-cell']} ${clusterID}`);

const PLACES = [
  ...['align/u1 far', 'align/u2 sim', 'align/u3 far'],
  ...['call/S1 far', 'call/S2 sim', 'call/S3 far'],
  ...['far/S1 far', 'far/S2 far', 'far/S3 far'],
  ...['merge/S1 far', 'merge/S2 sim', 'merge/S3 far'],
  'table/ sim',
];

describe('cells of one step on two clusters', () => {
  test('a row stays on its cluster without copies; what other clusters read is copied, cell by cell', async () => {
    const world = createWorld('rows');
    const handle = await world.startPlan(PLAN);
    const report = await world.rig.go(handle.finished);
    expect(report, JSON.stringify(report.failures)).toMatchObject({ status: 'succeeded' });
    expect(cells(world).sort()).toEqual(PLACES);
    expectOwnVolumes(world);
    expect(copies(world).sort()).toEqual(['call.data', 'far.data', 'far.data', 'far.data', 'merge.data', 'merge.data']);
    const clusters = report.steps.map(({ step, cells }) => [step, cells.map(({ clusterId }) => clusterId)]);
    expect(Object.fromEntries(clusters)).toMatchObject({ call: ['far', 'sim', 'far'], table: ['sim'] });
    // What `table` mounts is complete in the workspace of its cluster, with the manifests.
    const home = [...world.volumes].find(([, cluster]) => cluster === 'sim')![0];
    const { files } = world.rig.simulated.volumes.get(home)!;
    for (const step of ['far', 'merge']) {
      const directory = `runs/${handle.runId}/out/${step}/data`;
      expect(files.has(`${directory}/manifest.json`)).toBe(true);
      for (const key of ['S1', 'S2', 'S3'])
        expect(Buffer.from(files.get(`${directory}/${key}/file.txt`)!).toString()).toBe(step);
    }
  });

  test('a resumed run keeps the clusters of its cells', async () => {
    const world = createWorld('resumed');
    const first = await world.startPlan(PLAN);
    await world.rig.until(() => world.rig.created().length > 4);
    await world.rig.go(first.suspend());
    const handle = await world.resume(first.runId);
    expect(await world.rig.go(handle.finished)).toMatchObject({ status: 'succeeded' });
    expect(cells(world).sort()).toEqual(PLACES);
    expectOwnVolumes(world);
  });

  test('a cell whose row names another cluster is reused if the run still has the workspace there', async () => {
    const steps = `  make: { each: sample, ${PLACED}, cache: true }
  use: { each: sample, command: [x], placement: { cluster: sim }, inputs: { x: make.data }, outputs: [data] }
`;
    const world = createTwoClusters('moved', { behave: { make: { work: writes(() => world.rig, 'make') } } });
    const run = async (items?: string) => {
      const handle = await world.startPlan(planOf(steps, items));
      const report = await world.rig.go(handle.finished);
      expect(report, JSON.stringify(report.failures)).toMatchObject({ status: 'succeeded' });
      return report.steps[0]!.cells.map(({ cell, reused }) => `${cell}${reused ? ' reused' : ''}`);
    };
    expect(await run()).toEqual(['S1', 'S2', 'S3']);
    // S3 keeps the other cluster in the run.
    expect(await run(ITEMS.replace('at: far', 'at: sim'))).toEqual(['S1 reused', 'S2 reused', 'S3 reused']);
    expect(await run(ITEMS.replaceAll('at: far', 'at: sim'))).toEqual(['S1', 'S2 reused', 'S3']);
    expectOwnVolumes(world);
  });

  test('a cell goes to the next of its own clusters after an infrastructure failure', async () => {
    const lost: string[] = [];
    const world = createTwoClusters('relocate', {
      behave: {
        work: {
          get end() {
            return lost.push('work') <= 3 ? ('Unknown' as const) : ('Succeeded' as const);
          },
        },
      },
    });
    const list = 'placement: { ordered: ["${{ each.sample.at }}", "${{ each.sample.other }}"] }';
    const handle = await world.startPlan(planOf(`  work: { each: sample, command: [x], ${list} }`));
    expect(await world.rig.go(handle.finished)).toMatchObject({ status: 'succeeded' });
    expect(cells(world).slice(0, 3).sort()).toEqual(['work/S1 far', 'work/S2 sim', 'work/S3 far']);
    expect(cells(world).slice(3).sort()).toEqual(['work/S1 sim', 'work/S2 far', 'work/S3 sim']);
  });

  test('a cell counts against the limit of its own cluster', async () => {
    const world = createTwoClusters('limits', { behave: { work: { runMs: 10_000 } } });
    const plan = planOf('  work: { each: sample, command: [x], placement: { cluster: "${{ each.sample.at }}" } }');
    const handle = await world.startPlan(plan, { limits: { clusters: { far: 1, sim: 0 } } });
    let over = false;
    const finished = handle.finished.finally(() => {
      over = true;
    });
    await world.rig.until(() => {
      const live = world.rig.created().filter((container) => container.live);
      expect(live.length).toBeLessThan(2);
      return over;
    });
    expect(cells(world)).toEqual(['work/S1 far', 'work/S3 far']);
    expect((await finished).message).toContain('work waits for limit cluster sim: needs 1, 0 of 0 are in use');
  });
});
