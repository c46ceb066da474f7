import type { InstanceType } from '@sluice/client';
import type { Step } from '@sluice/core';
import { choiceOf } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { chooseClusters } from '../../src/placement/choose-clusters.ts';
import type { Sites } from '../../src/placement/choose-for-part.ts';
import { describeMoves } from '../../src/placement/describe-moves.ts';

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
  volumeCluster: (name) => (name === 'pinned' ? 'west' : undefined),
};

const step = (name: string, more: Partial<Step> = {}): Step => {
  const { instanceType: _, ...rest } = createStep(name, more);
  return more.instanceType === undefined ? rest : { ...rest, instanceType: more.instanceType };
};

/** `name: first second (type)` of each step, or the error. */
function choose(steps: readonly Step[], sites: Partial<Sites> = {}): string[] | string {
  const plan = createHandPlan(steps);
  const chosen = chooseClusters(plan, { ...SITES, ...sites });
  if (!chosen.ok) return chosen.error;
  return plan.steps.map(({ index, step: { name } }) => {
    const { clusters, instanceType } = choiceOf(chosen.value, { step: index, cell: 0 });
    return `${name}: ${clusters.join(' ')} (${instanceType})`;
  });
}

const out = { outputs: { data: { path: '/out', retain: true } } };
const reads = (name: string) => ({ inputs: { data: { from: { step: name, output: 'data' }, path: '/in/data' } } });

describe('chooseClusters', () => {
  test('keeps to the cluster of the run where nothing says otherwise, and leaves it only where nothing fits', () => {
    expect(choose([step('a'), step('b', { resources: { cpu: 3 } })])).toEqual(['a: east (c1)', 'b: north west (c4)']);
  });

  test('keeps to clusters that have a type for every cell, and names none for all of them if they differ', () => {
    const cells = (cores: readonly number[]) => ({
      matrix: { axes: { cores }, include: [], exclude: [] },
      perCell: { resources: { cpu: '${{ matrix.cores }}' } },
    });
    expect(choose([step('a', cells([1, 2])), step('b', cells([1, 8])), step('c', cells([2, 2]))])).toEqual([
      'a: east (undefined)',
      'b: west (undefined)',
      'c: east (c2)',
    ]);
    expect(choose([step('d', cells([1, 16]))])).toMatch(
      'step d: no instance type of cluster east or north or west offers 16',
    );
  });

  test('tells of steps that leave the cluster of the run, and not of those that the file sends elsewhere', () => {
    const plan = createHandPlan([
      step('a'),
      ...['b', 'c', 'd', 'e'].map((name) => step(name, { resources: { cpu: 3 } })),
      step('f', { placement: { cluster: 'west' } }),
    ]);
    const chosen = chooseClusters(plan, SITES);
    expect(describeMoves(plan, chosen.ok ? chosen.value : undefined, 'east')).toEqual([
      'steps b, c, d and 1 more run on cluster north: no instance type of cluster east fits',
    ]);
  });

  test('rejects a level of escalation that none of the clusters of the step offers', () => {
    const base = createStep('a').retry;
    const climbs = (escalate: Step['retry']['escalate']) =>
      choose([step('a', { instanceType: 'c2', retry: { ...base, limit: 1, escalate } })]);
    expect(climbs(['c1'])).toEqual(['a: east (c2)']);
    expect(climbs([{ cpu: 2 }])).toEqual(['a: east (c2)']);
    const perCell = { retry: { escalate: [{ cpu: '${{ matrix.cores }}' }] } };
    const cells = { matrix: { axes: { cores: [1, 32] }, include: [], exclude: [] }, perCell };
    const retry = { ...base, limit: 1, escalate: [{}] };
    expect(choose([step('a', { ...cells, retry })])).toMatch('`retry.escalate` of step a: no instance type');
    expect(climbs(['c1', 'c9'])).toBe(
      '`retry.escalate` of step a: no instance type of cluster east offers c9; it has c1, c2',
    );
    expect(climbs([{ cpu: 4 }])).toMatch(
      /^`retry.escalate` of step a: .* offers 4 cores; the largest, c2, has 2 cores/,
    );
  });

  test('rejects an instance type that no cluster has, also of one cell', () => {
    expect(choose([step('a', { instanceType: 'c3' })])).toMatch(/no instance type .* offers c3/);
    expect(choose([step('a', { resources: { cpu: 640, memoryBytes: 2e12 } })])).toMatch(
      /offers 640 cores and 2000 GB of memory; the largest, \S+, has \d+ cores? and \S+ GB of memory/,
    );
    const cells = (values: string[]) =>
      step('a', {
        instanceType: '${{ matrix.t }}',
        matrix: { axes: { t: values }, include: [], exclude: [] },
      });
    expect(choose([cells(['c1', 'c3'])])).toMatch(/no instance type/);
    expect(choose([cells(['c1', 'c2'])])).toHaveLength(1);
  });

  test('takes what `ordered` says in its order, as far as something fits', () => {
    const placement = { ordered: ['west', 'north', 'east'] };
    expect(choose([step('a', { placement }), step('b', { placement, resources: { cpu: 3 } })])).toEqual([
      'a: west north east (c2)',
      'b: west north (c8)',
    ]);
  });

  test('takes of `anyOf` where the inputs are, then the smallest instance type', () => {
    const anyOf = { placement: { anyOf: ['west', 'north'] } };
    expect(
      choose([
        step('free', anyOf),
        step('make', { placement: { cluster: 'north' }, ...out }),
        step('use', { ...anyOf, ...reads('make') }),
      ]),
    ).toEqual(['free: west north (c2)', 'make: north (c4)', 'use: north west (c4)']);
  });

  test('goes where a volume is that cannot be copied', () => {
    const inputs = { raw: { from: { volume: 'pinned', path: '' }, path: '/in/raw' } };
    expect(choose([step('a', { inputs })])).toEqual(['a: west (c2)']);
    expect(choose([step('a', { inputs, placement: { cluster: 'east' } })])).toBe(
      'step a: no instance type of cluster east offers anything, and its volumes are on west',
    );
  });

  test('says what there is none of', () => {
    expect(choose([step('a', { placement: { cluster: 'south' } })])).toBe(
      'step a: there is no account on cluster south; there are accounts on east, north, west',
    );
    expect(choose([step('a', { instanceType: 'c9', placement: { anyOf: ['west', 'east'] } })])).toBe(
      'step a: no instance type of cluster west or east offers c9; it has c1, c2, c8',
    );
  });

  test('looks at each step a few times, however many inputs come from it', () => {
    const out = { outputs: { o: { path: '/out', retain: false } } };
    const parts = Array.from({ length: 300 }, (_, n) => step(`part-${n}`, out));
    const inputs = Object.fromEntries(
      parts.map(({ name }) => [name, { from: { step: name, output: 'o' }, path: `/in/${name}` }]),
    );
    const plan = createHandPlan([...parts, step('all', { inputs }), step('again', { inputs })]);
    let reads = 0;
    const counted = plan.steps.map((planned) => {
      const { name } = planned.step;
      const described = { ...planned.step };
      const get = () => {
        reads += 1;
        return name;
      };
      Object.defineProperty(described, 'name', { get });
      return { ...planned, step: described };
    });
    expect(chooseClusters({ ...plan, steps: counted }, SITES).ok).toBe(true);
    expect(reads).toBeLessThan(4 * counted.length);
  });
});
