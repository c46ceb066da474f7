import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCrossings } from '../../src/layout/count-crossings.ts';
import { placeColumns } from '../../src/layout/place-columns.ts';
import { siftColumns } from '../../src/layout/sift-columns.ts';
import { distance, type Slot } from '../../src/layout/slot.ts';

interface Graph {
  readonly columns: number[][];
  readonly slots: Slot[];
}

/** `sizes` has the number of slots of each column; an edge joins slots of neighboring columns by their places. */
function createGraph(sizes: readonly number[], edges: readonly (readonly [number, number, number])[]): Graph {
  const columns: number[][] = [];
  const slots: Slot[] = [];
  sizes.forEach((size, level) => {
    columns.push(Array.from({ length: size }, (_, place) => slots.length + place));
    for (let place = 0; place < size; place++)
      slots.push({ level, height: 10 + (place % 3) * 10, before: [], after: [], y: 0 });
  });
  for (const [level, from, to] of edges) {
    const [a, b] = [columns[level]![from]!, columns[level + 1]![to]!];
    slots[a]!.after.push(b);
    slots[b]!.before.push(a);
  }
  return { columns, slots };
}

/** The crossings by comparing all pairs of edges. */
function countSlowly({ columns, slots }: Graph): number {
  const rank = new Map(columns.flatMap((column) => column.map((slot, place) => [slot, place] as const)));
  return columns.reduce((sum, column) => {
    const edges = column.flatMap((slot) => slots[slot]!.after.map((to) => [rank.get(slot)!, rank.get(to)!] as const));
    const crossing = edges.flatMap((a, index) =>
      edges.slice(index + 1).filter((b) => (a[0] - b[0]) * (a[1] - b[1]) < 0),
    );
    return sum + crossing.length;
  }, 0);
}

const someGraph = fc
  .record({
    sizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 2, maxLength: 4 }),
    draws: fc.array(fc.tuple(fc.nat(100), fc.nat(100), fc.nat(100)), { maxLength: 24 }),
  })
  .map(({ sizes, draws }) =>
    createGraph(
      sizes,
      draws.map(([a, b, c]) => {
        const level = a % (sizes.length - 1);
        return [level, b % sizes[level]!, c % sizes[level + 1]!];
      }),
    ),
  );

test('crossings are counted as by comparing all pairs', () => {
  fc.assert(
    fc.property(someGraph, (graph) => {
      expect(countCrossings(graph.columns, graph.slots)).toBe(countSlowly(graph));
    }),
  );
});

test('every column keeps its slots, none overlap, and no edges cross that did not before', () => {
  fc.assert(
    fc.property(someGraph, (graph) => {
      const { columns, slots } = graph;
      const before = {
        crossings: countSlowly(graph),
        columns: columns.map((column) => column.toSorted((a, b) => a - b)),
      };
      placeColumns(columns, slots);
      expect(columns.map((column) => column.toSorted((a, b) => a - b))).toEqual(before.columns);
      expect(countSlowly(graph)).toBeLessThanOrEqual(before.crossings);
      for (const column of columns)
        for (const [place, slot] of column.entries()) {
          const above = slots[column[place - 1] ?? -1];
          if (above === undefined) continue;
          expect(slots[slot]!.y - above.y).toBeGreaterThanOrEqual(distance(above, slots[slot]!) - 1e-6);
        }
    }),
  );
});

test('siftColumns never has more crossings afterward', () => {
  fc.assert(
    fc.property(someGraph, (graph) => {
      const before = countSlowly(graph);
      siftColumns(graph.columns, graph.slots);
      expect(countSlowly(graph)).toBeLessThanOrEqual(before);
    }),
  );
});

test('a graph that can be drawn without crossings is, and its chains are straight', () => {
  const reversed = createGraph(
    [4, 4, 4],
    [0, 1].flatMap((level) => [0, 1, 2, 3].map((place) => [level, place, 3 - place] as const)),
  );
  expect(countSlowly(reversed)).toBe(12);
  placeColumns(reversed.columns, reversed.slots);
  expect(countSlowly(reversed)).toBe(0);
  const chain = createGraph(
    [3, 3],
    [0, 1, 2].map((place) => [0, place, place] as const),
  );
  placeColumns(chain.columns, chain.slots);
  for (const slot of chain.columns[0]!)
    expect(chain.slots[chain.slots[slot]!.after[0]!]!.y).toBeCloseTo(chain.slots[slot]!.y);
});

test('the same graph is placed in the same way each time', () => {
  const place = () => {
    const graph = createGraph(
      [6, 6, 6],
      Array.from({ length: 30 }, (_, index) => [index % 2, (index * 7) % 6, (index * 5 + (index >> 2)) % 6] as const),
    );
    placeColumns(graph.columns, graph.slots);
    return graph.slots.map(({ y }) => y);
  };
  expect(place()).toEqual(place());
});
