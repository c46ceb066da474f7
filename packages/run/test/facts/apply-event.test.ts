import { describe, expect, test } from 'vitest';
import { applyEvent } from '../../src/facts/apply-event.ts';
import { createRunFacts } from '../../src/facts/run-facts.ts';
import type { JournalRecord } from '../../src/records/journal-record.ts';
import type { SchedulerEvent } from '../../src/scheduler/model/event.ts';
import { createScheduler } from '../../src/scheduler/scheduler.ts';
import { createHandPlan, createStep } from '../plans.ts';

const REGIONS = ['eu', 'us', 'asia'].map((key) => ({ key, matrix: {}, item: key }));

/** The cells of `smoke` come right after those of `deploy` in the scheduler's table. */
function createRun() {
  const after = { needs: [{ step: 'prepare', condition: 'succeeded' as const }] };
  const plan = createHandPlan([
    createStep('prepare'),
    createStep('test'),
    createStep('deploy', { ...after, foreach: '${{ params.regions }}', cache: { ignore: [] } }),
    createStep('ask', { approval: { message: 'really?', timeoutMs: 1000 } }),
    createStep('smoke'),
  ]);
  const run = { facts: createRunFacts(plan), scheduler: createScheduler(plan, {}) };
  const send = (event: SchedulerEvent, facts?: Extract<JournalRecord, { kind: 'event' }>['facts']) =>
    applyEvent(run, { kind: 'event', event, ...(facts && { facts }) });
  send({ type: 'started', at: 1 });
  return { ...run, send };
}

const succeeded = (step: number) =>
  ({ type: 'ended', at: 2, step, cell: 0, attempt: 1, outcome: { result: 'succeeded' } }) as const;
const failed = (step: number) => {
  const outcome = { result: 'failed', class: 'failed', exitCode: 1, message: 'exit code 1' } as const;
  return { type: 'ended', at: 2, step, cell: 0, attempt: 1, outcome } as const;
};
const decided = { type: 'decided', at: 3, step: 2, cells: 3 } as const;

describe('applyEvent', () => {
  test('takes the cells of a foreach that is decided', () => {
    const { facts, scheduler, send } = createRun();
    send(succeeded(0));
    send(decided, { cells: REGIONS });
    expect(facts.cells[2]).toEqual(REGIONS);
    expect(scheduler.cellCount(2)).toBe(3);
  });

  test.each([
    ['a failure stops the run', failed(1)],
    ['the run is canceled', { type: 'cancelRequested', at: 2, by: 'a person' }],
  ] as const)('takes no cells of a foreach that is decided when %s', (_, stop) => {
    const { facts, scheduler, send } = createRun();
    send(succeeded(0));
    send(stop);
    send(decided, { cells: REGIONS });
    expect(facts.cells[2]).toBeUndefined();
    expect(scheduler.isExpanded(2)).toBe(false);
    expect(() => scheduler.state(2, 1)).toThrow('cannot use cell 1 of step 2: the run has no such cell');
  });

  test('takes no reason of an evaluation that failed after its step had ended', () => {
    const { facts, send } = createRun();
    send(succeeded(0));
    send({ type: 'cancelRequested', at: 2, by: 'a person' });
    send({ type: 'evaluationFailed', at: 3, step: 2, message: 'no such key' });
    expect(facts.evaluationErrors.size).toBe(0);
  });

  test('takes no result of a lookup, and no answer, that comes after the end', () => {
    const { facts, send } = createRun();
    send(succeeded(0));
    send(decided, { cells: REGIONS });
    send({ type: 'cancelRequested', at: 4, by: 'a person' });
    const source = { runId: 'earlier', step: 'deploy', cell: 'eu', volumeID: 'v', fingerprint: 'f', siblings: 's' };
    send({ type: 'cacheHit', at: 5, step: 2, cell: 0 }, { cached: { ...source, results: { url: 'x' } } });
    send({ type: 'approved', at: 5, step: 3, approved: true, by: 'a person' });
    expect(facts.known[2]).toEqual([]);
    expect(facts.answeredAt.size).toBe(0);
  });

  test.each([
    { type: 'postponed', at: 2, step: 0, cell: 0, attempt: 2, reason: 'pool', until: 9 },
    { type: 'submitted', at: 2, step: 0, cell: 0, attempt: 2 },
    { type: 'running', at: 2, step: 0, cell: 0, attempt: 2 },
    { ...succeeded(0), attempt: 2 },
    { type: 'published', at: 2, step: 0, cell: 0, attempt: 2 },
  ] satisfies SchedulerEvent[])('rejects $type of an attempt that has not begun', (event) => {
    const { facts, send } = createRun();
    const container = { createTime: '2001-01-01T00:00:00Z' };
    expect(() => send(event, { container })).toThrow('attempt 2 of cell 0 of step 0 has not begun');
    expect(facts.known[0]).toEqual([]);
  });

  test('takes nothing of a cell that never had an attempt', () => {
    const { facts, scheduler, send } = createRun();
    send(failed(0));
    expect(scheduler.state(2)).toBe('skipped');
    send({ ...failed(2), at: 3 });
    expect(facts.known[2]).toEqual([]);
    expect(facts.failures).toHaveLength(1);
  });

  test('rejects a decided foreach without its cells', () => {
    const { facts, send } = createRun();
    send(succeeded(0));
    expect(() => send(decided)).toThrow('cannot describe the cells of step 2: it has 3, and 0 are recorded');
    expect(facts.cells[2]).toBeUndefined();
  });

  test('takes a decided foreach without cells that is not expanded, and one of a step without foreach', () => {
    const { facts, scheduler, send } = createRun();
    send(succeeded(0));
    send({ type: 'cancelRequested', at: 2, by: 'a person' });
    send(decided);
    expect(facts.cells[2]).toBeUndefined();
    expect(scheduler.isExpanded(2)).toBe(false);
    const conditional = createStep('a', { when: '${{ true }}' });
    const plan = createHandPlan([conditional]);
    const run = { facts: createRunFacts(plan), scheduler: createScheduler(plan, {}) };
    applyEvent(run, { kind: 'event', event: { type: 'started', at: 1 } });
    applyEvent(run, { kind: 'event', event: { type: 'decided', at: 2, step: 0, cells: 1 } });
    expect(run.scheduler.state(0)).toBe('submitting');
  });

  test('rejects an event whose number of cells is not that of its facts', () => {
    const { send } = createRun();
    send(succeeded(0));
    expect(() => send({ ...decided, cells: 2 }, { cells: REGIONS })).toThrow(
      'cannot describe the cells of step 2: it has 2, and 3 are recorded',
    );
  });
});
