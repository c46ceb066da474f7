import Flatbush from 'flatbush';
import { expect, test } from 'vitest';
import { indexLayout } from '../../src/layout/index-layout.ts';

const layout = {
  ...{ width: 100, height: 50 },
  boxes: Float32Array.of(0, 0, 10, 10, 50, 20, 60, 30),
  points: Float32Array.of(10, 5, 30, 40, 50, 25),
  firstPoints: Uint32Array.of(0, 3),
};
const search = (data: ArrayBuffer | undefined, box: readonly [number, number, number, number]) =>
  Flatbush.from(data!).search(...box);

test('nodes are found by the place that they cover', () => {
  const { nodes } = indexLayout(layout);
  expect(search(nodes, [5, 5, 6, 6])).toEqual([0]);
  expect(search(nodes, [55, 25, 55, 25])).toEqual([1]);
  expect(search(nodes, [0, 0, 100, 50]).sort()).toEqual([0, 1]);
  expect(search(nodes, [20, 0, 40, 50])).toEqual([]);
});

test('an edge is found by the box around all points that it passes', () => {
  const { edges } = indexLayout(layout);
  expect(search(edges, [29, 39, 31, 41])).toEqual([0]);
  expect(search(edges, [0, 0, 9, 50])).toEqual([]);
});

test('an index of nothing does not exist', () => {
  const empty = { ...layout, boxes: new Float32Array(), points: new Float32Array(), firstPoints: Uint32Array.of(0) };
  expect(indexLayout(empty)).toEqual({});
});
