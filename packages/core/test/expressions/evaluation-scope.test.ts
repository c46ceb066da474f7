import { describe, expect, it } from 'vitest';
import {
  evaluateTogether,
  type Json,
  limitPlan,
  type Plan,
  type RunContext,
  resolveContainer,
  resolveDecision,
  resolveText,
} from '../../src/index.ts';
import { planOf } from '../plan/plan-of.ts';

/** As a server allows. */
const TURNS = 1_000_000;
const EXCESS = `the expressions take more than ${TURNS} iterations together, the limit on this server; use fewer nested loops or shorter lists`;

const TEN = '[0,1,2,3,4,5,6,7,8,9]';
const nested = (depth: number): string =>
  Array.from({ length: depth }).reduce((inner: string, _, at) => `${TEN}.all(v${at}, ${inner})`, 'true');

function contextOf(list: Json): RunContext {
  return {
    run: { id: 'r1', name: 'demo', plannedTime: '2026-11-21T02:30:00Z' },
    attempt: 1,
    steps: () => ({ status: 'succeeded', results: { list } }),
  };
}

const NO_LIST = contextOf([]);

function limited(body: string): Plan {
  const plan = planOf(body);
  limitPlan(plan, TURNS);
  return plan;
}

function decide(step: string, list: Json = []) {
  const plan = limited(`steps:\n  a: { command: [x], results: { list: array } }\n  b: ${step}\n`);
  return resolveDecision(plan, 1, contextOf(list));
}

/** The error of a container with this many variables, each of this value. */
function errorOf(count: number, value: string, list: Json = []): string | undefined {
  const env = Array.from({ length: count }, (_, at) => `      V${at}: ${JSON.stringify(value)}\n`).join('');
  const plan = limited(
    `steps:\n  a: { command: [x], results: { list: array } }\n  b:\n    command: [x]\n    env:\n${env}`,
  );
  const resolved = resolveContainer(plan, 1, { cell: { key: '', matrix: {} }, context: contextOf(list) });
  return resolved.ok ? undefined : resolved.error;
}

describe('evaluateTogether', () => {
  it('limits a decision of a limited plan', () => {
    const when = `{ command: [x], when: "\${{ ${nested(6)} }}" }`;
    expect(decide(when)).toMatchObject({ ok: false, error: expect.stringContaining(EXCESS) });
    expect(decide(`{ command: [x], when: "\${{ ${nested(5)} }}" }`)).toEqual({ ok: true, value: { run: true } });
  });

  it('does not limit another plan', () => {
    const plan = planOf(`steps: { a: { command: [x], when: "\${{ ${nested(6)} }}" } }`);
    expect(resolveDecision(plan, 0, NO_LIST)).toEqual({ ok: true, value: { run: true } });
  });

  it('lets a limited plan have a list of a hundred thousand items with keys', () => {
    const list = Array.from({ length: 100_000 }, (_, at) => ({ id: `item-${at}`, size: at }));
    const step = `{ command: [x], foreach: { items: "\${{ steps.a.results.list }}", key: "\${{ item.id }}" } }`;
    const decided = decide(step, list);
    expect(decided.ok ? decided.value.cells?.length : decided.error).toBe(100_000);
  });

  it('counts the keys of all items together', () => {
    const key = `\${{ item + '${'-x'.repeat(50)}' + '${'-y'.repeat(50)}' }}`;
    const step = `{ command: [x], foreach: { items: "\${{ steps.a.results.list }}", key: "${key}" } }`;
    const error = expect.stringContaining(EXCESS);
    expect(decide(step, Array(1000).fill('a'))).toMatchObject({ ok: true });
    expect(decide(step, Array(100_000).fill('a'))).toMatchObject({ ok: false, error });
  });

  it.each([
    ['loops', 20, `\${{ ${nested(5)} }}`],
    [
      'bodies of many operations',
      1,
      `\${{ [${'1,'.repeat(1000)}1].map(a, [${'1,'.repeat(1000)}1].map(b, a${'+ b'.repeat(50)})).size() }}`,
    ],
    ['a program of a pattern', 1, `\${{ 'x'.matches('([a-z]?){900}${'[a-z]?'.repeat(100)}') }}`],
    [
      'a pattern that is followed in a long text',
      1,
      `\${{ '${'a'.repeat(5000)}'.matches('${'([a-z]?){900}'.repeat(2)}') }}`,
    ],
    ['tables of Unicode in a pattern', 1, `\${{ 'x'.matches('${'\\\\pL|'.repeat(1000)}') }}`],
    ['many expressions without loops', 900, `\${{ [${'1,'.repeat(1000)}1].size() }}`],
  ])('limits %s of a container', (_, count, value) => {
    expect(errorOf(count, value)).toContain(EXCESS);
  });

  it('limits the copies of a large result, and converts it once', () => {
    const list = Array.from({ length: 100_000 }, (_, at) => at);
    expect(errorOf(2000, '${{ steps.a.results.list.size() }}', list)).toBeUndefined();
    expect(errorOf(200, '${{ steps.a.results.list }}', list)).toContain(EXCESS);
    expect(errorOf(20, '${{ steps.a.results.list }}', 'x'.repeat(1_000_000))).toContain(EXCESS);
  });

  it('evaluates many expressions of a usual size', () => {
    expect(errorOf(2000, '${{ run.name }}-${{ attempt + 1 }}')).toBeUndefined();
    expect(errorOf(100, "${{ '2026-01-01'.matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}$') }}")).toBeUndefined();
  });

  it('counts several actions of one plan together, if they are part of one', () => {
    const plan = limited('steps: { a: { command: [x] } }');
    const text = `\${{ ${nested(5)} }}`;
    const resolve = () => resolveText(plan, text, NO_LIST).ok;
    const twelve = () => Array.from({ length: 12 }, resolve);
    expect(twelve()).not.toContain(false);
    expect(evaluateTogether(plan, twelve)).toContain(false);
    expect(evaluateTogether(plan, resolve, 100_000)).toBe(false);
    expect(evaluateTogether(planOf('steps: { a: { command: [x] } }'), resolve, 1)).toBe(true);
    expect(resolve()).toBe(true);
  });
});
