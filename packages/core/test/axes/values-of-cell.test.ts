import { describe, expect, test } from 'vitest';
import {
  createPlan,
  escalationOfCells,
  type Json,
  lateKeys,
  parsePipeline,
  resolveDecision,
  retriesOfCells,
  valuesOfCell,
  withLateValues,
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
      escalate: [big, { cpu: 2, memory: "\${{ each.sample.gb }}GB", time: "\${{ each.sample.gb }}h" }]
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
      escalate: ['big', { cpu: 2, memoryBytes: 16e9, timeMs: 16 * 3_600_000 }],
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
      'step `s`, cell B: `retry.limit` yields -1, which is not a number from 0 to 10000',
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

describe('pools', () => {
  const body = `pools: { gpu: 2, license: 5 }\n${HEAD}steps:
  s: { each: sample, command: [x], pools: { gpu: 1, license: "\${{ each.sample.tries }}" } }
`;

  test('each cell has its own number of slots', () => {
    const plan = planOf(body);
    expect([0, 1].map((cell) => valuesOfCell(plan, 0, cell).pools)).toEqual([
      { gpu: 1, license: 1 },
      { gpu: 1, license: 5 },
    ]);
  });

  test('a cell that needs more slots than the pool has is an error that names it', () => {
    const faultOfTries = (tries: number) => {
      const parsed = parsePipeline({ file: 'p.yaml', text: `version: 1\nname: demo\n${body}` });
      const samples = [
        { id: 'A', tries: 1 },
        { id: 'B', tries },
      ];
      const plan = parsed.ok ? createPlan(parsed.value.pipeline, { params: { samples } }) : parsed;
      return plan.ok ? '' : plan.error.map(({ message }) => message).join();
    };
    expect(faultOfTries(5)).toBe('');
    expect(faultOfTries(6)).toBe(
      'step `s`, cell B: it can never start: it needs 6 slots of pool `license`, which has 5',
    );
    expect(faultOfTries(0)).toBe('step `s`, cell B: `pools.license` yields 0, which is not a number from 1');
  });
});

describe('placement', () => {
  const body = `params: { samples: [{ id: S1, at: west }, { id: S2, at: east }], spare: north }
axes: { sample: { items: "\${{ params.samples }}", key: "\${{ item.id }}" } }
steps:
  one: { each: sample, command: [x], placement: { cluster: "\${{ each.sample.at }}" } }
  any: { each: sample, command: [x], placement: { anyOf: [main, "\${{ each.sample.at }}"] } }
  list: { each: sample, command: [x], placement: { ordered: ["\${{ each.sample.at }}", "\${{ params.spare }}"] } }
  seeds: { matrix: { at: [w, e] }, command: [x], placement: { cluster: "\${{ matrix.at }}est" } }
  fixed: { each: sample, command: [x], placement: { anyOf: [main, west] }, priority: "\${{ size(each.sample.at) }}" }
`;

  test('each cell has its own clusters, of a list in its order', () => {
    const plan = planOf(body);
    const of = (step: number) => [0, 1].map((cell) => valuesOfCell(plan, step, cell).placement);
    expect([0, 1, 2, 3, 4].map(of)).toEqual([
      [{ cluster: 'west' }, { cluster: 'east' }],
      [{ anyOf: ['main', 'west'] }, { anyOf: ['main', 'east'] }],
      [{ ordered: ['west', 'north'] }, { ordered: ['east', 'north'] }],
      [{ cluster: 'west' }, { cluster: 'eest' }],
      [{ anyOf: ['main', 'west'] }, { anyOf: ['main', 'west'] }],
    ]);
    expect(plan.steps.map(({ step: { placement } }) => placement)).toEqual([
      ...Array(4).fill(undefined),
      { anyOf: ['main', 'west'] },
    ]);
  });

  test('a value that is no name of a cluster is an error that names the cell', () => {
    const samples = (at: Json) => [
      { id: 'A', at: 'west' },
      { id: 'B', at },
    ];
    expect(faultOf('placement: { cluster: "${{ each.sample.at }}" }', samples('east'))).toBe('');
    expect(faultOf('placement: { cluster: "${{ each.sample.at }}" }', samples(''))).toBe(
      'step `s`, cell B: `placement.cluster` yields "", which is not the name of a cluster',
    );
    expect(faultOf('placement: { anyOf: [main, "${{ each.sample.at }}"] }', samples(7))).toBe(
      'step `s`, cell B: `placement.anyOf[1]` yields 7, which is not the name of a cluster',
    );
  });
});

describe('escalationOfCells', () => {
  test('has the levels of all cells, retriesOfCells what differs between them', () => {
    const plan = planOf(RETRIES);
    expect(escalationOfCells(plan, { step: 1 })).toEqual([
      'big',
      { cpu: 2, memoryBytes: 4e9, timeMs: 4 * 3_600_000 },
      'big',
      { cpu: 2, memoryBytes: 16e9, timeMs: 16 * 3_600_000 },
    ]);
    expect(escalationOfCells(plan, { step: 1, cells: [1] })).toEqual([
      'big',
      { cpu: 2, memoryBytes: 16e9, timeMs: 16 * 3_600_000 },
    ]);
    const attempts = [0, 1, 2].map((step) => retriesOfCells(plan, step)!.map((one) => one.limit + one.infrastructure));
    expect(attempts).toEqual([[1 + 3, 5 + 3], [2 + 2, 2 + 6], [3 + 3]]);
  });
});

const LATE = `${HEAD}steps:
  count: { each: sample, command: [x], results: { gb: integer, tries: integer } }
  sort:
    each: sample
    command: [x]
    timeout: "\${{ each.sample.gb }}h"
    deadline: "\${{ steps.count.results.gb }}h"
    resources: { cpu: 2, memory: "\${{ steps.count.results.gb }}GB" }
    retry: { limit: "\${{ steps.count.results.tries }}", backoff: { max: 500ms, initial: 1ms } }
  plain: { command: [x] }
`;

describe('withLateValues', () => {
  const plan = planOf(LATE);
  const context = (results: Readonly<Record<string, Json>>) => ({
    run: { id: 'r', name: 'n', plannedTime: '' },
    attempt: 1,
    steps: () => ({ status: 'succeeded' as const, results }),
    ...{ cell: plan.steps[1]!.cells![1]!, index: 1 },
  });
  const decide = (results: Readonly<Record<string, Json>>) => resolveDecision(plan, 1, context(results));

  test('the plan has the values that do not depend on results, a decision the others', () => {
    expect([0, 1, 2].map((step) => lateKeys(plan, step))).toEqual([
      [],
      ['deadline', 'resources.memory', 'retry.limit'],
      [],
    ]);
    expect(valuesOfCell(plan, 1, 1)).toMatchObject({ timeoutMs: 57_600_000, resources: { cpu: 2 } });
    expect(retriesOfCells(plan, 1)).toBe(undefined);
    const values = { deadline: 72_000_000, 'resources.memory': 20e9, 'retry.limit': 4 };
    expect(decide({ gb: 20, tries: 4 })).toEqual({ ok: true, value: { run: true, values: [values] } });
    expect(withLateValues(plan, { step: 1, cell: 1 }, values)).toMatchObject({
      ...{ timeoutMs: 57_600_000, deadlineMs: 72_000_000, resources: { cpu: 2, memoryBytes: 20e9 } },
      retry: { limit: 4, backoff: { initialMs: 1, maxMs: 500 } },
    });
  });

  test('the time of an attempt is such a value, too', () => {
    const own = planOf(`${HEAD}steps:
  count: { each: sample, command: [x], results: { hours: integer } }
  sort: { each: sample, command: [x], resources: { cpu: 2, time: "\${{ steps.count.results.hours }}h" } }
`);
    expect(lateKeys(own, 1)).toEqual(['resources.time']);
    expect(valuesOfCell(own, 1, 1).resources).toEqual({ cpu: 2 });
    const decideTime = (hours: Json) =>
      resolveDecision(own, 1, { ...context({ hours }), cell: own.steps[1]!.cells![1]! });
    const values = { 'resources.time': 7_200_000 };
    expect(decideTime(2)).toEqual({ ok: true, value: { run: true, values: [values] } });
    expect(withLateValues(own, { step: 1, cell: 1 }, values).resources).toEqual({ cpu: 2, timeMs: 7_200_000 });
    expect(decideTime(0)).toEqual({
      ok: false,
      error: 'step `sort`, cell S2: `resources.time` yields "0h", but must be greater than 0',
    });
  });

  test('a value of another form, or one that contradicts another, is an error that names the cell', () => {
    const errorOf = (gb: Json, tries: Json = 1) => {
      const decision = decide({ gb, tries });
      return decision.ok ? '' : decision.error;
    };
    expect(errorOf('x')).toBe(
      'step `sort`, cell S2: `deadline` yields "xh", which is not a duration with its unit, for example 90s or 2h',
    );
    expect(errorOf(20, null)).toBe(
      'step `sort`, cell S2: `retry.limit` yields null, which is not a number from 0 to 10000',
    );
    expect(errorOf(2)).toBe(
      'step `sort`, cell S2: `deadline` (for all attempts together) is shorter than `timeout` (for one attempt)',
    );
  });
});
