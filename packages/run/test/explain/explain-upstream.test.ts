import { expect, test } from 'vitest';
import { explainUpstream } from '../../src/explain/explain-upstream.ts';
import { createRunFacts } from '../../src/facts/run-facts.ts';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { testPlan } from '../scheduler/test-plan.ts';

test('explainUpstream follows the cells that a cell reads, and finds the one that all wait for', () => {
  const plan = testPlan({
    fetch: {},
    align: { each: ['z'], after: ['fetch!'] },
    merge: { each: ['x'], after: ['align!'] },
    call: { each: ['x', 'y'], after: ['merge!'] },
    table: { after: ['call!'] },
  });
  const scheduler = createScheduler(plan);
  scheduler.handle({ type: 'started', at: 0 });
  const run = { runId: 'r', directory: '', facts: createRunFacts(plan), scheduler };
  const waiting = { status: 'waiting' };
  const of = (step: number, cell: number) => {
    const { upstream = [], rootCause } = explainUpstream(run, step, cell);
    return { names: upstream.map(({ step: name, cell: key, cellCount }) => `${name}/${key ?? cellCount}`), rootCause };
  };
  // The first item of `x` has two of `z`, the others one each.
  expect(of(3, 0).names).toEqual(['align/2', 'merge/x0']);
  expect(of(3, 2)).toMatchObject({ names: ['fetch/', 'align/z2', 'merge/x1'], rootCause: { step: 'fetch', cell: '' } });
  expect(explainUpstream(run, 1, 0).upstream).toEqual([{ step: 'fetch', cell: '', status: 'submitting' }]);
  expect(explainUpstream(run, 3, 2).upstream?.[1]).toEqual({ step: 'align', cell: 'z2', ...waiting });
  expect(explainUpstream(run, 4, 0)).toEqual({});
});
