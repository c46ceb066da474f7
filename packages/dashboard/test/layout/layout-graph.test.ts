import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCrossings } from '../../src/layout/count-crossings.ts';
import { type GraphLayout, type GraphShape, layoutGraph } from '../../src/layout/layout-graph.ts';
import { placeColumns } from '../../src/layout/place-columns.ts';
import type { Slot } from '../../src/layout/slot.ts';

/** A shape whose levels are those of the longest paths. */
function shapeOf(nodes: number, edges: readonly (readonly [number, number])[], heights?: number[]): GraphShape {
  const levels = new Int32Array(nodes);
  const sorted = [...edges].sort(([a], [b]) => a - b);
  for (const [from, to] of sorted) levels[to] = Math.max(levels[to]!, levels[from]! + 1);
  return {
    levels,
    edges: Int32Array.from(edges.flat()),
    widths: new Float32Array(nodes).fill(100),
    heights: heights === undefined ? new Float32Array(nodes).fill(40) : Float32Array.from(heights),
  };
}

const someGraph = fc.integer({ min: 2, max: 90 }).chain((nodes) =>
  fc.record({
    nodes: fc.constant(nodes),
    edges: fc.uniqueArray(
      fc
        .tuple(fc.nat(nodes - 1), fc.nat(nodes - 1))
        .filter(([a, b]) => a !== b)
        .map(([a, b]): [number, number] => (a < b ? [a, b] : [b, a])),
      { maxLength: 2 * nodes, selector: ([a, b]) => `${a} ${b}` },
    ),
    heights: fc.array(fc.integer({ min: 20, max: 200 }), { minLength: nodes, maxLength: nodes }),
  }),
);

function boxOf({ boxes }: GraphLayout, node: number) {
  const [left, top, right, bottom] = boxes.subarray(node * 4, node * 4 + 4);
  return { left: left!, top: top!, right: right!, bottom: bottom! };
}

test('layoutGraph places boxes without overlaps, from left to right, inside of the drawing', () => {
  fc.assert(
    fc.property(someGraph, ({ nodes, edges, heights }) => {
      const shape = shapeOf(nodes, edges, heights);
      const layout = layoutGraph(shape);
      for (let a = 0; a < nodes; a++) {
        const box = boxOf(layout, a);
        expect(Math.min(box.left, box.top)).toBeGreaterThanOrEqual(-0.1);
        expect(box.right).toBeLessThanOrEqual(layout.width + 0.1);
        expect(box.bottom).toBeLessThanOrEqual(layout.height + 0.1);
        for (let b = a + 1; b < nodes; b++) {
          const other = boxOf(layout, b);
          const isApart = box.right <= other.left || other.right <= box.left;
          expect(isApart || box.bottom <= other.top || other.bottom <= box.top).toBe(true);
        }
      }
      for (const [from, to] of edges) expect(boxOf(layout, from).right).toBeLessThan(boxOf(layout, to).left);
    }),
  );
});

test('layoutGraph leads each edge from the right side of one box to the left side of the other', () => {
  fc.assert(
    fc.property(someGraph, ({ nodes, edges }) => {
      const layout = layoutGraph(shapeOf(nodes, edges));
      edges.forEach(([from, to], edge) => {
        const [first, end] = [layout.firstPoints[edge]!, layout.firstPoints[edge + 1]!];
        const [source, target] = [boxOf(layout, from), boxOf(layout, to)];
        expect(layout.points[first * 2]).toBeCloseTo(source.right, 1);
        expect(layout.points[first * 2 + 1]).toBeCloseTo((source.top + source.bottom) / 2, 1);
        expect(layout.points[end * 2 - 2]).toBeCloseTo(target.left, 1);
        for (let point = first + 1; point < end; point++)
          expect(layout.points[point * 2]).toBeGreaterThanOrEqual(layout.points[point * 2 - 2]!);
      });
    }),
  );
});

test('layoutGraph folds a column with many nodes to about the proportions of a screen', () => {
  const edges = Array.from({ length: 2_000 }, (_, node): [number, number] => [0, node + 1]);
  const { width, height } = layoutGraph(shapeOf(2_001, edges));
  expect(width / height).toBeGreaterThan(0.5);
  expect(width / height).toBeLessThan(4);
});

test('layoutGraph draws a chain as a straight line, and nothing for nothing', () => {
  const { points } = layoutGraph(
    shapeOf(4, [
      [0, 1],
      [1, 2],
      [2, 3],
    ]),
  );
  expect(new Set(points.filter((_, index) => index % 2 === 1)).size).toBe(1);
  expect(layoutGraph(shapeOf(0, []))).toMatchObject({ width: 0, height: 0 });
});

test('placeColumns removes the crossings of a graph that can be drawn without', () => {
  // A ladder whose second column is upside down.
  const size = 12;
  const slots: Slot[] = Array.from({ length: 2 * size }, (_, index) => {
    const isFirst = index < size;
    const partner = 2 * size - 1 - index;
    return {
      level: isFirst ? 0 : 1,
      height: 40,
      before: isFirst ? [] : [partner],
      after: isFirst ? [partner] : [],
      y: 0,
    };
  });
  const columns = [
    Array.from({ length: size }, (_, index) => index),
    Array.from({ length: size }, (_, index) => size + index),
  ];
  expect(countCrossings(columns, slots)).toBe((size * (size - 1)) / 2);
  placeColumns(columns, slots);
  expect(countCrossings(columns, slots)).toBe(0);
});
