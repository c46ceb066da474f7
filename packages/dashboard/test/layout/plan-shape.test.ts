import { expect, test } from 'vitest';
import { BOX_HEIGHT, gridColumns, type PlanSteps, planShape, shapeDigest } from '../../src/layout/plan-shape.ts';

const step = (name: string, level: number, dependencies: number[]): PlanSteps[number] => ({
  step: name,
  level,
  dependencies,
  kind: 'container',
  final: false,
  cells: 1,
});
const STEPS = [step('a', 0, []), step('b', 1, [0])];

test('planShape makes boxes with a grid of cells larger', () => {
  const { edges, widths, heights } = planShape(STEPS, new Map([[1, 10_000]]));
  expect([...edges]).toEqual([0, 1]);
  expect(heights[0]).toBe(BOX_HEIGHT);
  expect(widths[0]).toBeLessThan(widths[1]!);
  expect(widths[1]! / heights[1]!).toBeGreaterThan(1);
  expect(gridColumns(10_000)).toBeGreaterThan(100);
});

test('shapeDigest depends on everything that changes the drawing', () => {
  const digest = (steps: PlanSteps, expanded = new Map<number, number>()) => shapeDigest(planShape(steps, expanded));
  const [a, b] = [STEPS[0]!, STEPS[1]!];
  const long = 'sixteen letters!';
  const digests = [
    digest(STEPS),
    digest(STEPS, new Map([[1, 4]])),
    digest([a, step(long, 1, [0])]),
    digest([a, step('b', 1, [])]),
    digest([a, step('b', 2, [0])]),
    // The number of cells is part of the box.
    digest([a, { ...step(long, 1, [0]), cells: 5 }]),
    digest([a, { ...step(long, 1, [0]), cells: null }], new Map([[0, 2]])),
    digest([step(long, 0, []), b]),
  ];
  expect(new Set(digests).size).toBe(digests.length);
  expect(digest([...STEPS])).toBe(digests[0]);
});
