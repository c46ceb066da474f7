import fc from 'fast-check';
import { DirectedGraph } from 'graphology';
import { hasCycle, topologicalGenerations } from 'graphology-dag';
import { describe, expect, it } from 'vitest';
import { findCycles } from '../../src/graph/find-cycles.ts';
import { createStepGraph, levelsOf } from '../../src/graph/step-graph.ts';

const edges = fc.integer({ min: 1, max: 30 }).chain((nodes) =>
  fc.record({
    nodes: fc.constant(nodes),
    pairs: fc.array(fc.tuple(fc.nat(nodes - 1), fc.nat(nodes - 1)), { maxLength: 60 }),
  }),
);

function rowsOf(nodes: number, pairs: readonly (readonly [number, number])[]): { on: number }[][] {
  const rows = Array.from({ length: nodes }, () => new Set<number>());
  for (const [node, on] of pairs) rows[node]?.add(on);
  return rows.map((row) => [...row].map((on) => ({ on })));
}

function libraryGraph(rows: readonly (readonly { on: number }[])[]): DirectedGraph {
  const graph = new DirectedGraph({ allowSelfLoops: true });
  rows.forEach((_, node) => {
    graph.addNode(node);
  });
  rows.forEach((row, node) => {
    for (const { on } of row) graph.addDirectedEdge(on, node);
  });
  return graph;
}

describe('findCycles', () => {
  it('findCycles agrees with graphology on whether there is a cycle, and each path is one', () => {
    fc.assert(
      fc.property(edges, ({ nodes, pairs }) => {
        const rows = rowsOf(nodes, pairs);
        const cycles = findCycles(createStepGraph(rows));
        expect(cycles.length > 0).toBe(hasCycle(libraryGraph(rows)));
        for (const { path, component } of cycles) {
          expect(path[0]).toBe(component[0]);
          path.forEach((node, index) => {
            expect(rows[node]?.map(({ on }) => on)).toContain(path[(index + 1) % path.length]);
          });
        }
      }),
    );
  });

  it('findCycles says the same in whatever order the edges stand', () => {
    fc.assert(
      fc.property(edges, ({ nodes, pairs }) => {
        const components = (given: readonly (readonly [number, number])[]) =>
          findCycles(createStepGraph(rowsOf(nodes, given))).map(({ component }) => component);
        expect(components([...pairs].reverse())).toEqual(components(pairs));
      }),
    );
  });
});

describe('levelsOf', () => {
  it('levelsOf agrees with the generations of graphology', () => {
    fc.assert(
      fc.property(edges, ({ nodes, pairs }) => {
        const rows = rowsOf(
          nodes,
          pairs.filter(([node, on]) => on < node),
        );
        const levels = [...levelsOf(createStepGraph(rows))];
        topologicalGenerations(libraryGraph(rows)).forEach((generation, level) => {
          for (const node of generation) expect(levels[Number(node)]).toBe(level);
        });
      }),
    );
  });
});
