import { expect, test } from 'vitest';
import { findLanes } from '../../src/layout/find-lanes.ts';
import type { PlanSteps } from '../../src/layout/plan-shape.ts';

function createSteps(given: Readonly<Record<string, readonly [each: string, ...after: string[]]>>): PlanSteps {
  const names = Object.keys(given);
  return Object.entries(given).map(([step, [each, ...after]]) => ({
    ...{ step, kind: 'container', level: 0, final: false, cells: 2 },
    dependencies: after.map((name) => names.indexOf(name)),
    ...(each !== '' && { each: each.split(',') }),
  }));
}

test('findLanes finds the chains of steps with the same axes, in any order of their names', () => {
  const steps = createSteps({
    fetch: [''],
    align: ['sample', 'fetch'],
    sort: ['sample', 'align', 'fetch'],
    good: ['sample', 'sort'],
    call: ['sample,caller', 'good'],
    score: ['caller,sample', 'call'],
    table: ['caller', 'score'],
  });
  expect(findLanes(steps)).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test('findLanes ends a lane where it forks or joins', () => {
  const steps = createSteps({
    a: ['s'],
    b: ['s', 'a'],
    c: ['s', 'b'],
    d: ['s', 'b'],
    e: ['s', 'c', 'd'],
    f: ['s', 'e'],
  });
  expect(findLanes(steps)).toEqual([
    [0, 1],
    [4, 5],
  ]);
  expect(findLanes(createSteps({ a: [''], b: ['', 'a'] }))).toEqual([]);
});
