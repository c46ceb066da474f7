import { expect, test } from 'vitest';
import { layerGraph } from '../../src/report/layer-graph.ts';

const SIZE = { nodeWidth: 100, nodeHeight: 40 };

test('layerGraph puts levels into columns and lets nothing overlap', () => {
  const levels = [0, 0, 0, 1, 1, 2];
  const edges = [
    { from: 0, to: 4 },
    { from: 1, to: 3 },
    { from: 2, to: 3 },
    { from: 3, to: 5 },
    { from: 0, to: 5 },
  ];
  const graph = layerGraph({ levels, edges, ...SIZE });
  levels.forEach((level, index) => {
    expect(graph.nodes[index]!.x).toBe(level * 144);
    expect(graph.nodes[index]!.y).toBeGreaterThanOrEqual(0);
    expect(graph.nodes[index]!.y + SIZE.nodeHeight).toBeLessThanOrEqual(graph.height);
  });
  for (const [a, b] of [
    [0, 1],
    [1, 2],
    [0, 2],
    [3, 4],
  ] as const) {
    expect(Math.abs(graph.nodes[a]!.y - graph.nodes[b]!.y)).toBeGreaterThanOrEqual(SIZE.nodeHeight);
  }
  expect(graph.width).toBe(2 * 144 + 100);
  expect(graph.edges[4]).toHaveLength(4);
  expect(graph).toEqual(layerGraph({ levels, edges, ...SIZE }));
});

test('layerGraph uncrosses two edges', () => {
  const graph = layerGraph({
    levels: [0, 0, 1, 1],
    edges: [
      { from: 0, to: 3 },
      { from: 1, to: 2 },
    ],
    ...SIZE,
  });
  const [a, b, c, d] = graph.nodes.map(({ y }) => y);
  expect(a! < b!).toBe(d! < c!);
});
