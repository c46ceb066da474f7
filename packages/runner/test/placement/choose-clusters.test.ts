import type { InstanceType } from '@sluice/client';
import type { Step } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { chooseClusters, type Sites } from '../../src/placement/choose-clusters.ts';
import { createHandPlan, createStep } from '../simulation/plans.ts';

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
    const { clusters, instanceType } = chosen.value.choices[chosen.value.ofStep[index]!]!;
    return `${name}: ${clusters.join(' ')} (${instanceType})`;
  });
}

const out = { outputs: { data: { path: '/out', retain: true } } };
const reads = (name: string) => ({ inputs: { data: { from: { step: name, output: 'data' }, path: '/in/data' } } });

describe('chooseClusters', () => {
  test('keeps to the cluster of the run where nothing says otherwise, and leaves it only where nothing fits', () => {
    expect(choose([step('a'), step('b', { resources: { cpu: 3 } })])).toEqual(['a: east (c1)', 'b: north west (c4)']);
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
      'step a: no instance type of cluster west or east offers c9',
    );
  });
});
