import { describe, expect, it } from 'vitest';
import { toCel } from '../../src/expressions/cel-values.ts';
import { findDoubles, hidesDoubles, mergeDoubles } from '../../src/expressions/doubles.ts';
import { createPlan, type Json, type Plan, parsePipeline, resolveContainer, resolveDecision } from '../../src/index.ts';

const FACTS = { status: 'succeeded' as const, results: { rates: [0.5, 1, 2], rate: 2, count: 3 } };
const CONTEXT = { run: { id: 'r', name: 'p', plannedTime: '' }, attempt: 1, steps: () => FACTS };

function planOf(file: Json, params: Readonly<Record<string, Json>> = {}): Plan {
  const parsed = parsePipeline({ file: 'p.json', text: JSON.stringify(file) });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params });
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  // As a run stores it.
  return JSON.parse(JSON.stringify(plan.value)) as Plan;
}

/** The last word of the command of each cell of the last step. */
function wordsOf(plan: Plan): readonly unknown[] {
  const { index, cells } = plan.steps.at(-1)!;
  const decision = resolveDecision(plan, index, CONTEXT);
  if (!decision.ok) return [decision.error];
  const stored = JSON.parse(JSON.stringify(cells ?? decision.value.cells)) as NonNullable<typeof cells>;
  return stored.map((cell) => {
    const container = resolveContainer(plan, index, { cell, context: CONTEXT });
    return container.ok ? container.value.command?.at(-1) : container.error;
  });
}

const step = (word: string, rest: Readonly<Record<string, Json>> = {}): Json => ({
  version: 1,
  name: 'p',
  params: {
    rates: [0.5, 1, 2],
    table: {
      type: 'array',
      default: [
        { n: 7, r: 0.5 },
        { n: 7, r: 1 },
      ],
    },
    ints: [1, 7],
  },
  steps: {
    first: { command: ['x'], results: { rates: 'array', rate: 'number', count: 'integer' } },
    last: { command: ['x', word], ...rest },
  },
});

describe('findDoubles', () => {
  it('findDoubles names the places where one of several numbers has a fraction', () => {
    expect(findDoubles([[0.5, 1]])).toEqual({ items: { number: true } });
    expect(findDoubles([{ a: 1, b: [1] }, { a: 2, b: [0.5] }, 'x', null])).toEqual({
      keys: { b: { items: { number: true } } },
    });
    expect(findDoubles([1, 2, [3], { a: 4 }])).toBeUndefined();
  });

  it('hidesDoubles is true only for a value with a whole number at such a place', () => {
    const doubles = { keys: { b: { number: true } } } as const;
    expect([{ b: 1 }, { b: 0.5 }, { a: 1 }, 1].map((value) => hidesDoubles(value as Json, doubles))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('findDoubles keeps keys that are names of prototypes', () => {
    const value = JSON.parse('[{"__proto__": 1, "constructor": 2}, {"__proto__": 0.5, "constructor": 0.5}]') as Json;
    const [first] = toCel(value) as Map<string, unknown>[];
    expect([...first!]).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ]);
  });
});

describe('mergeDoubles', () => {
  it('mergeDoubles has every place that one of the values has', () => {
    const number = { number: true } as const;
    expect(mergeDoubles([undefined, { items: number }, { keys: { a: number } }])).toEqual({
      ...{ items: number, keys: { a: number } },
    });
    expect(mergeDoubles([{ keys: { a: { items: number } } }, { keys: { a: number, b: number } }])).toEqual({
      keys: { a: { items: number, number: true }, b: number },
    });
    expect(mergeDoubles([undefined])).toBeUndefined();
  });

  it('mergeDoubles takes as many values as a list may have', () => {
    const items = { number: true } as const;
    expect(mergeDoubles(Array.from({ length: 500_000 }, () => ({ items })))).toEqual({ items });
  });
});

describe('toCel', () => {
  it.each([
    ['a parameter', '${{ params.rates.map(r, r / 4) }}', {}, ['[0.125,0.25,0.5]']],
    ['maps in a list', '${{ params.table.map(t, t.n / 2) + params.table.map(t, t.r / 4) }}', {}, ['[3,3,0.125,0.25]']],
    ['integers', '${{ params.ints.map(i, i / 2) }}', {}, ['[0,3]']],
    [
      'results',
      '${{ steps.first.results.rates.map(r, r / 4) }} ${{ steps.first.results.rate / 4 }} ${{ steps.first.results.count / 2 }}',
      {},
      ['[0.125,0.25,0.5] 0.5 1'],
    ],
    ['a matrix', '${{ matrix.r / 4 }} ${{ matrix.n / 2 }}', { matrix: { r: [0.5, 1], n: [7] } }, ['0.125 3', '0.25 3']],
    [
      'a matrix by an expression',
      '${{ matrix.r / 4 }}',
      { matrix: { r: '${{ params.rates }}' } },
      ['0.125', '0.25', '0.5'],
    ],
    ['a literal list', '${{ item / 4 }}', { foreach: [0.5, 1, 2] }, ['0.125', '0.25', '0.5']],
    [
      'a list of maps',
      '${{ item.r / 4 }} ${{ item.n / 2 }}',
      { foreach: '${{ params.table }}' },
      ['0.125 3', '0.25 3'],
    ],
    [
      'a list by an expression',
      '${{ item / 4 }}',
      { foreach: '${{ steps.first.results.rates }}' },
      ['0.125', '0.25', '0.5'],
    ],
  ])('toCel keeps whole numbers beside fractions doubles: %s', (_, word, rest, words) => {
    expect(wordsOf(planOf(step(word, rest as Record<string, Json>)))).toEqual(words);
  });

  it('toCel keeps whole numbers of a list for one run doubles', () => {
    expect(wordsOf(planOf(step('${{ params.ints.map(i, i / 2) }}'), { ints: '[1.5, 3]' }))).toEqual(['[0.75,1.5]']);
  });
});
