import { DirectedGraph } from 'graphology';
import { topologicalGenerations } from 'graphology-dag';
import { describe, expect, it } from 'vitest';
import { planGraph } from '../../src/index.ts';
import { planOf } from '../plan/plan-of.ts';

const GRAPH = planGraph(
  planOf(`
volumes: { raw: { source: ./raw } }
steps:
  fetch: { image: alpine:3.20, command: [x], inputs: { raw: volumes.raw }, outputs: { a: /a, b: /b } }
  db: { command: [x], service: true, ports: { sql: {} } }
  train:
    command: [x]
    matrix: { seed: [1, 2, 3] }
    inputs: { left: fetch.a/sub/file, right: { from: fetch.b, path: /data, writable: true } }
    needs: { db: running }
    outputs: { model: /m }
  each: { command: [x], foreach: "\${{ [1, 2] }}", needs: [train] }
  ok: { approval: {}, needs: { train: completed } }
finally:
  tell: { command: [x, "\${{ steps.train.status }}"] }
`),
);

describe('planGraph', () => {
  it('describes every step by its kind, image, number of cells and level, in the order of the plan', () => {
    expect(GRAPH.getAttributes()).toEqual({ pipeline: 'demo' });
    expect(GRAPH.mapNodes((name, node) => [name, node])).toEqual([
      ['fetch', { index: 0, kind: 'container', image: 'alpine:3.20', cells: 1, level: 0, final: false }],
      ['db', { index: 1, kind: 'service', cells: 1, level: 0, final: false }],
      ['train', { index: 2, kind: 'container', cells: 3, level: 1, final: false }],
      ['each', { index: 3, kind: 'container', level: 2, final: false }],
      ['ok', { index: 4, kind: 'approval', cells: 1, level: 2, final: false }],
      ['tell', { index: 5, kind: 'container', cells: 1, level: 2, final: true }],
    ]);
  });

  it('has one edge for each dependency, with its condition and the outputs that it mounts', () => {
    expect(GRAPH.mapEdges((_, edge, source, target) => [`${source} -> ${target}`, edge])).toEqual([
      [
        'fetch -> train',
        {
          condition: 'succeeded',
          kind: 'data',
          mounts: [
            { output: 'a', outputPath: 'sub/file', input: 'left', path: '/in/left', writable: false },
            { output: 'b', input: 'right', path: '/data', writable: true },
          ],
        },
      ],
      ['db -> train', { condition: 'running', kind: 'order', mounts: [] }],
      ['train -> each', { condition: 'succeeded', kind: 'order', mounts: [] }],
      ['train -> ok', { condition: 'completed', kind: 'order', mounts: [] }],
      ['train -> tell', { condition: 'completed', kind: 'order', mounts: [] }],
    ]);
  });

  it('can be exported as JSON and imported again', () => {
    const exported = GRAPH.export();
    expect(JSON.parse(JSON.stringify(exported))).toEqual(exported);
    expect(DirectedGraph.from(exported).export()).toEqual(exported);
  });

  it('works with the algorithms of graphology, which find the same levels', () => {
    expect(topologicalGenerations(GRAPH)).toEqual([['fetch', 'db'], ['train'], ['each', 'ok', 'tell']]);
  });
});
