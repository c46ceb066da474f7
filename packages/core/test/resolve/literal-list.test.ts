import { describe, expect, it } from 'vitest';
import { createPlan, type Json, type Plan, parsePipeline, resolveDecision } from '../../src/index.ts';

const CONTEXT = { run: { id: 'r', name: 'p', plannedTime: '' }, attempt: 1, steps: () => undefined };

function itemsOf(foreach: Json): unknown {
  const text = JSON.stringify({ version: 1, name: 'p', params: { n: 3 }, steps: { s: { command: ['x'], foreach } } });
  const parsed = parsePipeline({ file: 'p.json', text });
  if (!parsed.ok) return parsed.error.map(({ message }) => message);
  const plan = createPlan(parsed.value.pipeline);
  const decision = plan.ok ? resolveDecision(JSON.parse(JSON.stringify(plan.value)) as Plan, 0, CONTEXT) : plan;
  return decision.ok ? decision.value.cells?.map(({ item }) => item) : decision.error;
}

describe('resolveDecision', () => {
  it.each([
    ['numbers', Array.from({ length: 100_000 }, (_, index) => index)],
    ['maps', Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}` }))],
  ])('resolveDecision takes a literal list of as many %s as a step may have cells', (_, list) => {
    expect(itemsOf(list)).toEqual(list);
    expect(itemsOf({ items: list, key: '${{ item }}' })).toEqual(list);
  });

  it('resolveDecision rejects a longer literal list', () => {
    expect(itemsOf(Array.from({ length: 100_001 }, () => 0))).toBe(
      '`foreach` of step `s` has 100001 items, and a step may have 100000 cells',
    );
  });

  it('resolveDecision keeps the items of a literal list as they are, and evaluates their expressions', () => {
    const list = [
      null,
      'a $${{ b',
      { constructor: 1, toString: 2, in: ['${{ params.n + 1 }}', 'n${{ params.n }}'] },
      1.5,
      true,
    ];
    expect(itemsOf(list)).toEqual([null, 'a ${{ b', { constructor: 1, toString: 2, in: [4, 'n3'] }, 1.5, true]);
  });

  it('resolveDecision reports an expression in a literal list that cannot be read, and its place', () => {
    expect(itemsOf([1, '${{ nothing }}'])).toEqual(['unknown name `nothing`']);
  });
});
