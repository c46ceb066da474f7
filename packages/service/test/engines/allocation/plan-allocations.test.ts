import { describe, expect, test } from 'vitest';
import {
  type OpenNode,
  planAllocations,
  type WaitingContainer,
} from '../../../src/engines/allocation/plan-allocations.ts';

const GB = 2 ** 30;
const rules = { nodes: 1, max: 4, backlog: 2, minUtilization: 0.5, idleMs: 1000, usesAll: false };

function waiting(key: string, cores = 1, more: Partial<WaitingContainer> = {}): WaitingContainer {
  return { key, needs: { cores, memoryBytes: GB, gpus: 0 }, needMs: undefined, refusedBy: new Set(), ...more };
}

function allocation(key: string, free: number, more: Partial<OpenNode> = {}): OpenNode {
  const size = { cores: 4, memoryBytes: 16 * GB, gpus: 2 };
  const rest = { cores: free, memoryBytes: 16 * GB, gpus: 2 };
  return { key, allocation: key, capacity: size, free: rest, ahead: 0, mostAhead: 0, msLeft: 1e6, idleMs: 0, ...more };
}

function many(count: number): WaitingContainer[] {
  return Array.from({ length: count }, (_, index) => waiting(String(index)));
}

describe('planAllocations assigns', () => {
  test('in order, as many as fit', () => {
    const plan = planAllocations(many(3), [allocation('a', 2)], rules);
    expect(plan.assigned).toEqual([
      { key: '0', to: 'a' },
      { key: '1', to: 'a' },
    ]);
  });

  test('where the least remains free, so that others become idle', () => {
    const plan = planAllocations(many(2), [allocation('empty', 4), allocation('used', 1)], rules);
    expect(plan.assigned.map(({ to }) => to)).toEqual(['used', 'empty']);
  });

  test('a few ahead, so that the next one is at hand', () => {
    const plan = planAllocations(many(9), [allocation('a', 1, { mostAhead: 2 })], rules);
    expect(plan.assigned.map(({ key }) => key)).toEqual(['0', '1', '2']);
  });

  test('nothing ahead, if an allocation that is about to begin could run it', () => {
    const all = { ...rules, usesAll: true, backlog: 4 };
    const first = planAllocations(many(3), [], all);
    expect(first).toMatchObject({ assigned: [], submit: 3 });
    const full = allocation('a', 0, { mostAhead: 2 });
    expect(planAllocations(many(2), [full], all)).toMatchObject({ assigned: [], submit: 2 });
    const begun = allocation('b', 0, { capacity: undefined });
    expect(planAllocations(many(2), [full, begun], { ...all, max: 2 })).toMatchObject({ assigned: [], submit: 0 });
    expect(planAllocations(many(2), [full], { ...all, max: 1 }).assigned).toHaveLength(2);
  });

  test('nothing that may not finish, and submits another allocation for it', () => {
    const plan = planAllocations([waiting('long', 1, { needMs: 2e6 }), waiting('short')], [allocation('a', 4)], rules);
    expect(plan.assigned).toEqual([{ key: 'short', to: 'a' }]);
    expect(plan.submit).toBe(1);
  });

  test('nothing to one that gave it back, and submits another for it', () => {
    const refused = waiting('refused', 1, { refusedBy: new Set(['a']) });
    const plan = planAllocations([refused, waiting('new')], [allocation('a', 4)], rules);
    expect(plan.assigned).toEqual([{ key: 'new', to: 'a' }]);
    expect(plan.submit).toBe(1);
    const both = planAllocations([refused], [allocation('a', 4), allocation('b', 4)], rules);
    expect(both.assigned).toEqual([{ key: 'refused', to: 'b' }]);
  });

  test('nothing small before the large one for which it keeps the cores', () => {
    const plan = planAllocations([waiting('large', 4), waiting('small')], [allocation('a', 3)], rules);
    expect(plan.assigned).toEqual([]);
  });

  test('nothing to one that has not begun', () => {
    expect(planAllocations(many(1), [allocation('a', 4, { capacity: undefined })], rules).assigned).toEqual([]);
  });

  test('by memory, too', () => {
    const needs = { cores: 1, memoryBytes: 10 * GB, gpus: 0 };
    const plan = planAllocations([waiting('a', 1, { needs }), waiting('b', 1, { needs })], [allocation('x', 4)], rules);
    expect(plan.assigned.map(({ key }) => key)).toEqual(['a']);
  });
});

test('planAllocations assigns by GPUs, too', () => {
  const needs = { cores: 1, memoryBytes: GB, gpus: 1 };
  const three = ['a', 'b', 'c'].map((key) => waiting(key, 1, { needs }));
  expect(planAllocations(three, [allocation('x', 4)], rules).assigned.map(({ key }) => key)).toEqual(['a', 'b']);
  const large = waiting('large', 1, { needs: { ...needs, gpus: 3 } });
  expect(planAllocations([large], [allocation('x', 4)], rules).tooBig).toEqual(['large']);
});

test('planAllocations says what no allocation can hold', () => {
  const plan = planAllocations([waiting('large', 5), waiting('small')], [allocation('a', 4)], rules);
  expect(plan.tooBig).toEqual(['large']);
  expect(plan.assigned).toEqual([{ key: 'small', to: 'a' }]);
});

describe('planAllocations submits', () => {
  test('one when the first container waits, whatever it needs', () => {
    expect(planAllocations(many(1), [], rules).submit).toBe(1);
    expect(planAllocations(many(1000), [], rules).submit).toBe(1);
  });

  test('none while the size of the first is unknown', () => {
    expect(planAllocations(many(1000), [allocation('a', 0, { capacity: undefined })], rules).submit).toBe(0);
  });

  test.each([
    ['none for less than its part of an allocation', 1, 0],
    ['one for its part', 2, 1],
    ['one for a whole one', 4, 1],
    ['two for more', 6, 2],
    ['as many as may wait in Slurm', 100, 2],
  ])('%s', (_, count, submitted) => {
    expect(planAllocations(many(count), [allocation('a', 0)], rules).submit).toBe(submitted);
  });

  test('none for what those in the queue will take', () => {
    const queued = allocation('b', 0, { capacity: undefined });
    expect(planAllocations(many(4), [allocation('a', 0), queued], rules).submit).toBe(0);
    expect(planAllocations(many(6), [allocation('a', 0), queued], rules).submit).toBe(1);
  });

  test('no more than the configuration allows', () => {
    const full = ['a', 'b', 'c'].map((key) => allocation(key, 0));
    expect(planAllocations(many(100), full, rules).submit).toBe(1);
    expect(planAllocations(many(100), [...full, allocation('d', 0)], rules).submit).toBe(0);
  });
});

describe('planAllocations, of allocations with two nodes,', () => {
  const two = { ...rules, nodes: 2 };
  const node = (key: string, free: number, more: Partial<OpenNode> = {}) =>
    allocation(key, free, { allocation: key.slice(0, 1), ...more });
  const full = [node('a0', 0), node('a1', 0)];

  test('submits by the cores of both nodes', () => {
    expect(planAllocations(many(3), full, two).submit).toBe(0);
    expect(planAllocations(many(4), full, two).submit).toBe(1);
    expect(planAllocations(many(9), full, two).submit).toBe(1);
    expect(planAllocations(many(12), full, two).submit).toBe(2);
  });

  test('counts allocations, not nodes', () => {
    const others = ['b', 'c', 'd'].flatMap((key) => [node(`${key}0`, 0), node(`${key}1`, 0)]);
    expect(planAllocations(many(100), [...full, ...others.slice(0, 4)], two).submit).toBe(1);
    expect(planAllocations(many(100), [...full, ...others], two).submit).toBe(0);
    const queued = [node('b0', 0, { capacity: undefined }), node('b1', 0, { capacity: undefined })];
    expect(planAllocations(many(100), [...full, ...queued], two).submit).toBe(1);
  });

  test('submits none for what a node will take that is about to begin', () => {
    const begun = [node('a0', 0), node('a1', 0, { capacity: undefined })];
    expect(planAllocations(many(7), begun, two).submit).toBe(0);
    expect(planAllocations(many(8), begun, two).submit).toBe(1);
  });

  test('lets nothing wait on a node while another of the allocation is about to begin', () => {
    const begun = [node('a0', 1, { mostAhead: 2 }), node('a1', 0, { capacity: undefined })];
    expect(planAllocations(many(3), begun, two).assigned).toEqual([{ key: '0', to: 'a0' }]);
  });

  test('ends one only when both nodes were idle for long', () => {
    const idle = { idleMs: 1000 };
    expect(planAllocations([], [node('a0', 4, idle), node('a1', 4)], two).ended).toEqual([]);
    expect(planAllocations([], [node('a0', 4, idle), node('a1', 4, idle)], two).ended).toEqual(['a']);
    expect(planAllocations(many(1), [node('a0', 4, idle), node('a1', 4, idle)], two).ended).toEqual([]);
    expect(planAllocations([], [node('a0', 4, idle), node('a1', 0, { capacity: undefined })], two).ended).toEqual([
      'a',
    ]);
  });
});

describe('planAllocations ends', () => {
  test('one that was idle for long', () => {
    expect(planAllocations([], [allocation('a', 4, { idleMs: 1000 })], rules).ended).toEqual(['a']);
    expect(planAllocations([], [allocation('a', 4, { idleMs: 999 })], rules).ended).toEqual([]);
  });

  test('none to which it assigns a container', () => {
    expect(planAllocations(many(1), [allocation('a', 4, { idleMs: 1000 })], rules).ended).toEqual([]);
  });
});

describe('planAllocations gives up', () => {
  test('those that have the least to do, and assigns nothing to them', () => {
    const nodes = [allocation('full', 0), allocation('idle', 4), allocation('half', 2)];
    const plan = planAllocations(many(3), nodes, { ...rules, remain: 2, max: 2 });
    expect(plan.ended).toEqual(['idle']);
    expect(plan.assigned.map(({ to }) => to)).toEqual(['half', 'half']);
    expect(planAllocations([], nodes, { ...rules, remain: 1, max: 1 }).ended).toEqual(['idle', 'half']);
  });

  test('first those that have not begun, and submits none in their place', () => {
    const nodes = [allocation('idle', 4), allocation('new', 0, { capacity: undefined })];
    const plan = planAllocations(many(9), nodes, { ...rules, usesAll: true, backlog: 4, remain: 1, max: 1 });
    expect(plan).toMatchObject({ ended: ['new'], submit: 0 });
    expect(plan.assigned).toHaveLength(4);
    expect(planAllocations(many(1), nodes, { ...rules, remain: 0, max: 0 })).toMatchObject({ assigned: [], submit: 0 });
  });
});
