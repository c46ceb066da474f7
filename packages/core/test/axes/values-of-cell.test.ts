import { describe, expect, test } from 'vitest';
import {
  createPlan,
  escalationOfCells,
  type Json,
  mostAttempts,
  parsePipeline,
  valuesOfCell,
} from '../../src/index.ts';
import { planOf } from '../plan/plan-of.ts';

const HEAD = `params: { samples: [{ id: S1, tries: 1, gb: 4 }, { id: S2, tries: 5, gb: 16 }] }
axes: { sample: { items: "\${{ params.samples }}", key: "\${{ item.id }}" } }
`;

const RETRIES = `${HEAD}steps:
  short: { each: sample, command: [x], retry: "\${{ each.sample.tries }}" }
  long:
    each: sample
    command: [x]
    retry:
      limit: 2
      infrastructure: "\${{ each.sample.tries + 1 }}"
      backoff: { initial: "\${{ each.sample.tries }}s", factor: "\${{ double(each.sample.tries) }}", max: 1m }
      escalate: [big, { cpu: 2, memory: "\${{ each.sample.gb }}GB" }]
  plain: { command: [x], retry: 3 }
`;

/** What a plan with these samples says of a step `s`. */
function faultOf(keys: string, samples: Json): string {
  const text = `version: 1\nname: demo\n${HEAD}steps: { s: { each: sample, command: [x], ${keys} } }`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, { params: { samples } });
  return plan.ok ? '' : plan.error.map(({ message }) => message).join('\n');
}

describe('valuesOfCell', () => {
  test('each cell has its own retries; what has no expression is that of the step', () => {
    const plan = planOf(RETRIES);
    expect([0, 1].map((cell) => valuesOfCell(plan, 0, cell).retry)).toEqual(
      [1, 5].map((limit) => ({ ...plan.steps[0]!.step.retry, limit })),
    );
    expect(valuesOfCell(plan, 1, 1).retry).toEqual({
      limit: 2,
      on: ['failed', 'oom', 'timeout'],
      backoff: { initialMs: 5000, factor: 5, maxMs: 60_000 },
      escalate: ['big', { cpu: 2, memoryBytes: 16e9 }],
      infrastructure: 6,
    });
    expect(valuesOfCell(plan, 2, 0).retry.limit).toBe(3);
  });

  test('a value of another form is an error that names the cell', () => {
    const samples = (tries: Json) => [
      { id: 'A', tries: 1 },
      { id: 'B', tries },
    ];
    expect(faultOf('retry: "${{ each.sample.tries }}"', samples(1))).toBe('');
    expect(faultOf('retry: "${{ each.sample.tries }}"', samples(-1))).toBe(
      'step `s`, cell B: `retry.limit` yields -1, which is not a number from 0',
    );
    expect(faultOf('retry: { backoff: { factor: "${{ each.sample.tries }}" } }', samples(0))).toBe(
      'step `s`, cell B: `retry.backoff.factor` yields 0, which is not a number from 1',
    );
    expect(faultOf('retry: { backoff: { initial: "${{ each.sample.tries }}m", max: 3m } }', samples(4))).toBe(
      'step `s`, cell B: `retry.backoff` has a `max` below its `initial`',
    );
    expect(faultOf('retry: { escalate: [big, { memory: "${{ each.sample.tries }}GB" }] }', samples('x'))).toBe(
      'step `s`, cell B: `retry.escalate[1].memory` yields "xGB", which is not a size with its unit, for example 4GiB',
    );
  });
});

describe('escalationOfCells', () => {
  test('has the levels of all cells, mostAttempts the attempts of the cell that may have most', () => {
    const plan = planOf(RETRIES);
    expect(escalationOfCells(plan, 1)).toEqual([
      'big',
      { cpu: 2, memoryBytes: 4e9 },
      'big',
      { cpu: 2, memoryBytes: 16e9 },
    ]);
    expect([0, 1, 2].map((step) => mostAttempts(plan, step))).toEqual([1 + 5 + 3, 1 + 2 + 6, 1 + 3 + 3]);
  });
});
