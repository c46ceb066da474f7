import type { InstanceType } from '@sluice/client';
import { createPlan, type Json, type Plan, parsePipeline } from '@sluice/core';
import { choiceOf } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { chooseClusters } from '../../src/placement/choose-clusters.ts';
import type { Sites } from '../../src/placement/choose-for-part.ts';
import { listTransfers } from '../../src/placement/list-transfers.ts';

const type = (clusterID: string, cores: number): InstanceType => ({
  id: `c${cores}`,
  clusterID,
  cpu: { cores },
  memory: { sizeGB: cores * 4 },
  gpu: { count: 0 },
});

const SITES: Sites = {
  home: 'east',
  accounts: { east: 'me', west: 'me', north: 'you' },
  instanceTypes: [type('east', 1), type('east', 2), type('west', 2), type('west', 8), type('north', 4)],
  volumeCluster: () => undefined,
};

const SAMPLES = [
  { id: 'S1', at: 'west', cpu: 1 },
  { id: 'S2', at: 'east', cpu: 2 },
  { id: 'S3', at: 'west', cpu: 2 },
];

const UNITS = "[{'id': 'u1', 'sample': 'S1'}, {'id': 'u2', 'sample': 'S2'}, {'id': 'u3', 'sample': 'S1'}]";

function planOf(steps: string, samples: Json = SAMPLES): Plan {
  const text = `version: 1
name: demo
params: { samples: { type: array } }
axes:
  sample: { items: "\${{ params.samples }}", key: "\${{ item.id }}" }
  unit: { items: "\${{ size(params.samples) == 0 ? [] : ${UNITS} }}", key: "\${{ item.id }}", of: { sample: sample } }
  part: { items: "\${{ steps.split.results.parts }}" }
steps:
${steps}`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: { samples } });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return plan.value;
}

/** `step/cell: first second (type)` of each cell, or the error. */
function choose(plan: Plan): string[] | string {
  const chosen = chooseClusters(plan, SITES);
  if (!chosen.ok) return chosen.error;
  return plan.steps.flatMap(({ index, step, cells = [] }) =>
    cells.map(({ key }, cell) => {
      const { clusters, instanceType } = choiceOf(chosen.value, { step: index, cell });
      return `${step.name}/${key}: ${clusters.join(' ')} (${instanceType})`;
    }),
  );
}

const AT = 'each: sample, command: [x], placement: { cluster: "${{ each.sample.at }}" }';
const SPLIT = '  split: { each: sample, command: [x], outputs: [o], results: { parts: array } }';

describe('chooseClusters', () => {
  test('chooses for each cell if the placement depends on it, with the instance type of its own request', () => {
    const request = 'resources: { cpu: "${{ each.sample.cpu }}" }';
    const plan = planOf(
      `  a: { ${AT} }\n  b: { ${AT}, ${request} }\n  plain: { each: sample, command: [x] }\n${SPLIT}`,
    );
    expect(choose(plan)).toEqual([
      ...['a/S1: west (c2)', 'a/S2: east (c1)', 'a/S3: west (c2)'],
      ...['b/S1: west (c2)', 'b/S2: east (c2)', 'b/S3: west (c2)'],
      ...['plain/S1: east (c1)', 'plain/S2: east (c1)', 'plain/S3: east (c1)'],
      ...['split/S1: east (c1)', 'split/S2: east (c1)', 'split/S3: east (c1)'],
    ]);
    const chosen = chooseClusters(plan, SITES);
    expect(chosen).toMatchObject({ ok: true, value: { accounts: { east: 'me', west: 'me' } } });
    expect(chosen.ok && chosen.value.ofStep).toEqual([[0, 1, 0], [0, 2, 0], 1, 1]);
  });

  test('needs an instance type for each cell on its own clusters only', () => {
    const large = [
      { id: 'S1', at: 'west', cpu: 8 },
      { id: 'S2', at: 'east', cpu: 2 },
    ];
    const placed = (keys: string) => `  a: { each: sample, command: [x], ${keys} }\n${SPLIT}`;
    const request = 'resources: { cpu: "${{ each.sample.cpu }}" }';
    expect(choose(planOf(placed(`placement: { cluster: "\${{ each.sample.at }}" }, ${request}`), large))).toContain(
      'a/S1: west (c8)',
    );
    // A placement that is the same for all needs one cluster for all.
    expect(choose(planOf(placed(`placement: { anyOf: [east, north] }, ${request}`), large))).toBe(
      'step a: no instance type of cluster east or north offers 8 cores; the largest, c4, has 4 cores and 16 GB of memory',
    );
    const list = 'placement: { anyOf: [north, "${{ each.sample.at }}"] }';
    expect(choose(planOf(placed(`${list}, ${request}`), large))).toMatchObject({
      0: 'a/S1: west (c8)',
      1: 'a/S2: east north (c2)',
    });
    const named = placed('placement: { cluster: "${{ each.sample.at }}" }, instanceType: "c${{ each.sample.cpu }}"');
    expect(choose(planOf(named, large))).toMatchObject({ 0: 'a/S1: west (undefined)', 1: 'a/S2: east (undefined)' });
    expect(choose(planOf(named, [...large, { id: 'S3', at: 'east', cpu: 8 }]))).toBe(
      'step a, cell S3: no instance type of cluster east offers c8; it has c1, c2',
    );
  });

  test('rejects an instance type that no cluster has, also of one cell of a step with `each`', () => {
    const plan = planOf(
      `  a: { each: sample, command: [x], instanceType: "c\${{ each.sample.cpu * 4 - 3 }}" }\n${SPLIT}`,
    );
    expect(choose(plan)).toMatch(/^step a: no instance type of cluster .* offers c5; it has/);
    // Of the items of a list it is known only during the run.
    const listed = planOf(`${SPLIT}\n  work: { each: part, command: [x], instanceType: "\${{ each.part }}" }`);
    expect(chooseClusters(listed, SITES)).toMatchObject({ ok: true });
  });

  test('names the cell and the keys of its items if a value names no known cluster', () => {
    const typo = [...SAMPLES.slice(1), { id: 'S1', at: 'wset', cpu: 1 }];
    const why = 'there is no account on cluster wset; there are accounts on east, north, west';
    expect(choose(planOf(`  a: { ${AT} }\n${SPLIT}`, typo))).toBe(`step a, cell S1: ${why}`);
    const ofUnit = (placement: string) =>
      choose(planOf(`  a: { each: unit, command: [x], placement: ${placement} }\n${SPLIT}`, typo));
    expect(ofUnit('{ cluster: "${{ each.sample.at }}" }')).toBe(`step a, cell u1 (unit u1, sample S1): ${why}`);
    // The other clusters of a list do not replace the one that was meant.
    expect(ofUnit('{ anyOf: [north, "${{ each.sample.at }}"] }')).toBe(`step a, cell u1 (unit u1, sample S1): ${why}`);
    expect(ofUnit('{ ordered: [north, south] }')).toMatchObject({ 0: 'a/u1: north (c4)' });
  });

  test('takes of `anyOf` for each cell where its inputs are, of a directory where most of it is', () => {
    const reads = (name: string) => `inputs: { x: ${name}.o }, outputs: [o]`;
    const any = 'placement: { anyOf: [north, west, east] }';
    const plan = planOf(`  make: { ${AT}, outputs: [o] }
  each: { each: sample, command: [x], ${any}, ${reads('make')} }
  finer: { each: unit, command: [x], ${any}, ${reads('each')} }
  back: { each: sample, command: [x], ${any}, ${reads('finer')} }
  all: { command: [x], ${any}, ${reads('make')} }
  other: { each: sample, command: [x], ${any}, inputs: { x: { from: make.o, where: { sample: S2 } } }, outputs: [o] }
  home: { each: sample, command: [x], ${reads('make')} }
${SPLIT}`);
    const first = (choose(plan) as string[]).map((text) => text.split(' ').slice(0, 2).join(' '));
    expect(first.filter((text) => !text.startsWith('split'))).toEqual([
      ...['make/S1: west', 'make/S2: east', 'make/S3: west'],
      ...['each/S1: west', 'each/S2: east', 'each/S3: west'],
      ...['finer/u1: west', 'finer/u2: east', 'finer/u3: west'],
      // No cell of `finer` is for S3.
      ...['back/S1: west', 'back/S2: east', 'back/S3: east'],
      'all/: west',
      ...['other/S1: east', 'other/S2: east', 'other/S3: east'],
      ...['home/S1: east', 'home/S2: east', 'home/S3: east'],
    ]);
    const chosen = chooseClusters(plan, SITES);
    expect(
      chosen.ok &&
        listTransfers(plan, chosen.value, 'east').map(({ name, from, to, step }) => `${name} ${from} ${to} ${step}`),
    ).toEqual(['make.o east west all', 'make.o west east home']);
  });

  test('has one choice for the cells of a list, of a foreach, and of an axis without items', () => {
    const plan = planOf(
      `${SPLIT}
  make: { ${AT}, outputs: [o] }
  work: { each: part, command: [x], placement: { anyOf: [west, east] }, inputs: { x: make.o } }
  list: { foreach: [1, 2], command: [x], placement: { cluster: "\${{ params.samples[0].at }}" } }
`,
    );
    const chosen = chooseClusters(plan, SITES);
    expect(chosen.ok && chosen.value.ofStep.map((of) => typeof of)).toEqual(['number', 'object', 'number', 'number']);
    expect(chosen.ok && choiceOf(chosen.value, { step: 3, cell: 5 }).clusters).toEqual(['west']);
    expect(choose(planOf(`${SPLIT}\n  make: { ${AT} }`, []))).toEqual([]);
  });
});
