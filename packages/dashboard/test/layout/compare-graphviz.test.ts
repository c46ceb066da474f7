import { instance } from '@viz-js/viz';
import { expect, test } from 'vitest';
import { layoutGraph } from '../../src/layout/layout-graph.ts';

type Edge = readonly [from: number, to: number];
type Point = readonly [x: number, y: number];

/** A generator of numbers below `limit` that is the same everywhere. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
}

/** Layers of a width; each node depends on one to three of the layer before, and some on one of an earlier layer. */
function layered({ layers, width, seed }: { layers: number; width: number; seed: number }): Edge[] {
  const random = createRandom(seed);
  const edges = new Set<string>();
  for (let node = width; node < layers * width; node++) {
    const layer = Math.floor(node / width);
    for (let count = random(3); count >= 0; count--) edges.add(`${(layer - 1) * width + random(width)} ${node}`);
    if (layer > 1 && random(6) === 0) edges.add(`${random((layer - 1) * width)} ${node}`);
  }
  return [...edges].map((edge) => edge.split(' ').map(Number) as [number, number]);
}

/** A tree that ends in one node, as pipelines that collect results. */
function collecting(): Edge[] {
  const edges: Edge[] = [];
  for (let node = 1; node < 31; node++) edges.push([(node - 1) >> 1, node]);
  for (let leaf = 15; leaf < 31; leaf++) edges.push([leaf, 31 + ((leaf * 7) % 4)]);
  for (let part = 31; part < 35; part++) edges.push([part, 35]);
  return edges;
}

const GRAPHS: readonly (readonly [string, readonly Edge[]])[] = [
  ['a tree whose leaves are collected', collecting()],
  ['six layers of six', layered({ layers: 6, width: 6, seed: 1 })],
  ['ten layers of four', layered({ layers: 10, width: 4, seed: 2 })],
  ['four layers of fifteen', layered({ layers: 4, width: 15, seed: 3 })],
  ['eight layers of eight', layered({ layers: 8, width: 8, seed: 4 })],
];

const PARTS = 8;
const viz = await instance();

/** The column of each node. */
function levelsOf(edges: readonly Edge[]): Int32Array<ArrayBuffer> {
  const levels = new Int32Array(Math.max(...edges.flat()) + 1);
  for (const [from, to] of [...edges].sort(([a], [b]) => a - b)) levels[to] = Math.max(levels[to]!, levels[from]! + 1);
  return levels;
}

/** The lines of Graphviz with the same columns, from left to right. */
function drawWithGraphviz(edges: readonly Edge[]): Point[][] {
  const levels = levelsOf(edges);
  const drawn = viz.renderJSON({
    directed: true,
    graphAttributes: { rankdir: 'LR', nodesep: 0.2, ranksep: 0.6 },
    nodeAttributes: { shape: 'box', width: 1.4, height: 0.55, fixedsize: true, label: '' },
    edges: edges.map(([tail, head]) => ({ tail: String(tail), head: String(head) })),
    subgraphs: [...new Set(levels)].map((level) => ({
      graphAttributes: { rank: 'same' },
      nodes: [...levels.keys()].filter((node) => levels[node] === level).map((node) => ({ name: String(node) })),
    })),
  }) as { edges: { tail: number; head: number; pos: string }[]; objects: { name: string }[] };
  const lines = new Map(
    drawn.edges.map(({ tail, head, pos }) => [
      `${drawn.objects[tail]!.name} ${drawn.objects[head]!.name}`,
      curveOf(
        pos
          .split(' ')
          // The end of the arrow.
          .filter((part) => !part.startsWith('e'))
          .map((part) => part.split(',').map(Number) as [number, number]),
      ),
    ]),
  );
  return edges.map(([from, to]) => lines.get(`${from} ${to}`)!);
}

/** Points on Bézier curves that continue each other. */
function curveOf(controls: readonly Point[]): Point[] {
  const points: Point[] = [controls[0]!];
  for (let first = 0; first + 3 < controls.length; first += 3) {
    for (let part = 1; part <= PARTS; part++) {
      const t = part / PARTS;
      const at = (axis: 0 | 1) =>
        (1 - t) ** 3 * controls[first]![axis] +
        3 * (1 - t) ** 2 * t * controls[first + 1]![axis] +
        3 * (1 - t) * t ** 2 * controls[first + 2]![axis] +
        t ** 3 * controls[first + 3]![axis];
      points.push([at(0), at(1)]);
    }
  }
  return points;
}

function draw(edges: readonly Edge[]): Point[][] {
  const levels = levelsOf(edges);
  const nodes = levels.length;
  const { points, firstPoints } = layoutGraph({
    ...{ levels, edges: Int32Array.from(edges.flat()) },
    ...{ widths: new Float32Array(nodes).fill(100), heights: new Float32Array(nodes).fill(40) },
  });
  return edges.map((_, edge) => {
    const line: Point[] = [];
    for (let point = firstPoints[edge]!; point < firstPoints[edge + 1]!; point++)
      line.push([points[point * 2]!, points[point * 2 + 1]!]);
    return line;
  });
}

/** The number of pairs of edges that cross. Edges with a common end meet there. */
function countCrossings(edges: readonly Edge[], lines: readonly Point[][]): number {
  let crossings = 0;
  edges.forEach((one, a) => {
    for (let b = a + 1; b < edges.length; b++) {
      if (edges[b]!.some((node) => one.includes(node))) continue;
      if (doCross(lines[a]!, lines[b]!)) crossings++;
    }
  });
  return crossings;
}

function doCross(one: readonly Point[], other: readonly Point[]): boolean {
  const side = ([ax, ay]: Point, [bx, by]: Point, [x, y]: Point) =>
    Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
  for (let i = 1; i < one.length; i++) {
    for (let k = 1; k < other.length; k++) {
      const [a, b, c, d] = [one[i - 1]!, one[i]!, other[k - 1]!, other[k]!];
      if (side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0) return true;
    }
  }
  return false;
}

// Measured: 18 and 11, 40 and 25, 23 and 16, 160 and 136, 114 and 86 crossings.
test.each(GRAPHS)('layoutGraph crosses not many more edges than Graphviz in %s', (_name, edges) => {
  expect(countCrossings(edges, draw(edges))).toBeLessThanOrEqual(
    countCrossings(edges, drawWithGraphviz(edges)) * 1.75 + 3,
  );
});
