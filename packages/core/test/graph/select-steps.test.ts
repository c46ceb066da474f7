import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planGraph, selectSteps } from '../../src/index.ts';
import { planOf } from '../plan/plan-of.ts';

const GRAPH = planGraph(
  planOf(`
steps:
  a: { command: [x], outputs: { o: /o } }
  b: { command: [x], inputs: { o: a.o }, outputs: { o: /o } }
  c: { command: [x], needs: { a: completed } }
  d: { command: [x], inputs: { o: b.o }, needs: [c] }
  e: { command: [x] }
`),
);

describe('selectSteps', () => {
  it('finds ancestors and descendants of several steps, in the order of the plan', () => {
    expect(selectSteps(GRAPH, ['d'], { direction: 'ancestors' })).toEqual(['a', 'b', 'c']);
    expect(selectSteps(GRAPH, ['c', 'b'], { direction: 'ancestors' })).toEqual(['a']);
    expect(selectSteps(GRAPH, ['a'], { direction: 'descendants' })).toEqual(['b', 'c', 'd']);
    expect(selectSteps(GRAPH, ['a', 'b'], { direction: 'descendants' })).toEqual(['b', 'c', 'd']);
    expect(selectSteps(GRAPH, ['e'], { direction: 'descendants' })).toEqual([]);
  });

  it('follows only the edges that are asked for', () => {
    const along = ({ kind }: { readonly kind: string }): boolean => kind === 'data';
    expect(selectSteps(GRAPH, ['d'], { direction: 'ancestors', along })).toEqual(['a', 'b']);
    expect(selectSteps(GRAPH, ['a'], { direction: 'descendants', along })).toEqual(['b', 'd']);
  });

  it('throws for a name that is no step', () => {
    expect(() => selectSteps(GRAPH, ['nope'], { direction: 'ancestors' })).toThrow(/nope/);
  });

  /** Each step needs some of those before it. */
  const needs = fc.array(fc.array(fc.nat({ max: 11 }), { maxLength: 4 }), { minLength: 1, maxLength: 12 });

  it('finds exactly the transitive closure', () => {
    fc.assert(
      fc.property(needs, fc.nat({ max: 11 }), (rows, pick) => {
        const before = rows.map((row, at) => [...new Set(row.filter((on) => on < at))]);
        const steps = before.map(
          (row, at) => `  s${at}: { command: [x], needs: [${row.map((on) => `s${on}`).join(', ')}] }\n`,
        );
        const graph = planGraph(planOf(`steps:\n${steps.join('')}`));
        const reaches = (from: number, to: number): boolean =>
          before[to]!.some((on) => on === from || reaches(from, on));
        const step = pick % rows.length;
        const names = (match: (at: number) => boolean): readonly string[] =>
          before.flatMap((_, at) => (match(at) ? [`s${at}`] : []));
        expect(selectSteps(graph, [`s${step}`], { direction: 'ancestors' })).toEqual(names((at) => reaches(at, step)));
        expect(selectSteps(graph, [`s${step}`], { direction: 'descendants' })).toEqual(
          names((at) => reaches(step, at)),
        );
      }),
    );
  });
});
