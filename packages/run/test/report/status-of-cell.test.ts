import { describe, expect, test } from 'vitest';
import { createRunFacts } from '../../src/facts/run-facts.ts';
import { stepStatus } from '../../src/facts/step-status.ts';
import { describeState, statusOfCell } from '../../src/report/status-of-cell.ts';
import { CELL_STATES, type CellState, TERMINAL_CELL_STATES } from '../../src/scheduler/model/cell-state.ts';
import type { Outcome } from '../../src/scheduler/model/event.ts';
import { CELL_STATUSES } from '../../src/schemas/statuses.ts';
import { createHandPlan, createStep } from '../plans.ts';

describe('describeState', () => {
  test.each([
    ['waiting', { status: 'waiting' }],
    ['checking', { status: 'ready' }],
    ['backingOff', { status: 'ready' }],
    ['awaitingApproval', { status: 'awaitingApproval' }],
    ['succeeded', { status: 'succeeded' }],
    ['cached', { status: 'succeeded', reused: true }],
    ['failed', { status: 'failed', reason: 'failed' }],
    ['errored', { status: 'failed', reason: 'infrastructure' }],
    ['timedOut', { status: 'failed', reason: 'timeout' }],
    ['skipped', { status: 'skipped' }],
    ['canceled', { status: 'canceled' }],
  ] as const)('translates %s', (state, expected) => {
    expect(describeState(state, () => false)).toStrictEqual(expected);
  });

  test('names a lack of memory as the reason of a failure, and of nothing else', () => {
    expect(describeState('failed', () => true)).toStrictEqual({ status: 'failed', reason: 'oom' });
    expect(describeState('timedOut', () => true)).toStrictEqual({ status: 'failed', reason: 'timeout' });
    expect(describeState('succeeded', () => true)).toStrictEqual({ status: 'succeeded' });
  });

  test('agrees with expressions about every ended state, and uses every status', () => {
    for (const state of TERMINAL_CELL_STATES) {
      expect(describeState(state, () => false).status, state).toBe(stepStatus(state));
    }
    const used = new Set(CELL_STATES.map((state) => describeState(state, () => false).status));
    expect([...used].sort()).toEqual([...CELL_STATUSES].sort());
  });
});

describe('statusOfCell', () => {
  const status = (state: CellState, outcome?: Outcome) =>
    statusOfCell(
      {
        facts: {
          ...createRunFacts(createHandPlan([createStep('a')])),
          known: [
            [{ results: {}, attempts: [{ attempt: 1, submitted: true, container: {}, ...(outcome && { outcome }) }] }],
          ],
        },
        scheduler: { state: () => state, cellCount: () => 1 },
      },
      0,
      0,
    );

  test('takes the reason `oom` from the last attempt', () => {
    expect(status('failed', { result: 'failed', class: 'oom', message: 'killed' })).toStrictEqual({
      status: 'failed',
      reason: 'oom',
    });
    expect(status('failed', { result: 'failed', class: 'failed', message: 'exit code 1' }).reason).toBe('failed');
    // A retry after a lack of memory that is still running has not failed.
    expect(status('running')).toStrictEqual({ status: 'running' });
  });

  test('needs no attempt', () => {
    const facts = createRunFacts(createHandPlan([createStep('a')]));
    const source = { facts, scheduler: { state: () => 'failed' as const, cellCount: () => 1 } };
    expect(statusOfCell(source, 3, 1)).toStrictEqual({ status: 'failed', reason: 'failed' });
  });
});
