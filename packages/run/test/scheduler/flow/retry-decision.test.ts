import type { FailureClass, Retry } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { attemptVerdict } from '../../../src/scheduler/flow/attempt-verdict.ts';
import { backoffDelay } from '../../../src/scheduler/flow/backoff.ts';
import { decideRetry, type FailedAttempt, failureState } from '../../../src/scheduler/flow/retry-decision.ts';
import type { CancelReason } from '../../../src/scheduler/model/command.ts';
import type { Outcome } from '../../../src/scheduler/model/event.ts';

const CLASSES: readonly FailureClass[] = ['failed', 'oom', 'timeout', 'infrastructure'];
const RETRY: Retry = {
  limit: 2,
  on: [...CLASSES],
  backoff: { initialMs: 100, factor: 2, maxMs: 1000 },
  escalate: [],
  infrastructure: 1,
};
const FAILED: FailedAttempt = { class: 'failed', retries: 0, infrastructureRetries: 0, escalationLevel: -1 };

function decide(failed: Partial<FailedAttempt>, retry: Partial<Retry> = {}): string {
  const decision = decideRetry({ ...FAILED, ...failed }, { ...RETRY, ...retry });
  return decision.retry ? `${decision.budget} ${decision.escalationLevel}` : 'no';
}

describe('decideRetry', () => {
  test.each(CLASSES)('decideRetry: %s is tried again where retry.on names it, else not', (failure) => {
    expect(decide({ class: failure, infrastructureRetries: 1 })).toBe('limit -1');
    expect(decide({ class: failure, infrastructureRetries: 1 }, { on: [] })).toBe('no');
    expect(decide({ class: failure, infrastructureRetries: 1, retries: 2 })).toBe('no');
    expect(decide({ class: failure, permanent: true })).toBe('no');
  });

  test('decideRetry: infrastructure uses its own budget first, whatever retry.on says', () => {
    expect(decide({ class: 'infrastructure' }, { on: [], limit: 0 })).toBe('infrastructure -1');
    expect(decide({ class: 'infrastructure', infrastructureRetries: 1 }, { on: [] })).toBe('no');
  });

  test('decideRetry: what is free is tried again beyond all limits, and nothing permanent is', () => {
    const used = { class: 'infrastructure', infrastructureRetries: 9, retries: 9, isFree: true } as const;
    expect(decide(used, { on: [], limit: 0 })).toBe('none -1');
    expect(decide({ ...used, permanent: true })).toBe('no');
  });

  test('decideRetry: exit codes are asked for within the class failed only', () => {
    const only = { exitCodes: [75] };
    expect(decide({ exitCode: 75 }, only)).toBe('limit -1');
    expect(decide({ exitCode: 1 }, only)).toBe('no');
    expect(decide({}, only)).toBe('no');
    expect(decide({ class: 'oom', exitCode: 137 }, only)).toBe('limit -1');
    expect(decide({ class: 'infrastructure', infrastructureRetries: 1 }, only)).toBe('limit -1');
  });

  test('decideRetry: only oom and failed climb the ladder, up to its end', () => {
    const ladder = { escalate: ['big', 'huge'], limit: 9 };
    expect(CLASSES.map((failure) => decide({ class: failure, infrastructureRetries: 1 }, ladder))).toEqual([
      'limit 0',
      'limit 0',
      'limit -1',
      'limit -1',
    ]);
    expect(decide({ class: 'oom', escalationLevel: 1 }, ladder)).toBe('limit 1');
    expect(decide({ class: 'infrastructure', escalationLevel: 1 }, ladder)).toBe('infrastructure 1');
  });

  test('failureState: the class decides how a cell ends', () => {
    expect(CLASSES.map(failureState)).toEqual(['failed', 'failed', 'timedOut', 'errored']);
  });
});

describe('backoffDelay', () => {
  test('backoffDelay: grows by its factor up to its bound, half of it jitter', () => {
    for (const [failures, full] of [
      [1, 100],
      [2, 200],
      [4, 800],
      [5, 1000],
      [40, 1000],
    ] as const) {
      for (const key of ['a', 'b', 'c/1']) {
        const delay = backoffDelay(RETRY.backoff, failures, key);
        expect(delay).toBeGreaterThanOrEqual(full / 2);
        expect(delay).toBeLessThanOrEqual(full);
      }
    }
  });

  test('backoffDelay: the same key waits as long again, other keys spread out', () => {
    const delays = Array.from({ length: 200 }, (_, i) =>
      backoffDelay({ initialMs: 1000, factor: 1, maxMs: 1000 }, 1, `run/fit/${i}`),
    );
    expect(backoffDelay({ initialMs: 1000, factor: 1, maxMs: 1000 }, 1, 'run/fit/7')).toBe(delays[7]);
    expect(new Set(delays).size).toBeGreaterThan(130);
    for (let from = 500; from < 1000; from += 100) {
      expect(delays.filter((delay) => delay >= from && delay < from + 100).length).toBeGreaterThan(20);
    }
  });
});

describe('attemptVerdict', () => {
  const killed: Outcome = { result: 'failed', class: 'failed', exitCode: 143, message: 'killed' };
  const meaning = (outcome: Outcome, asked: CancelReason | undefined) => {
    const end = attemptVerdict(outcome, asked);
    return end.result === 'failed' ? `${end.class}${end.permanent === true ? ' for good' : ''}` : end.result;
  };

  test.each([
    [undefined, 'failed', 'canceled'],
    ['timeout', 'timeout', 'timeout'],
    ['queueTimeout', 'timeout', 'timeout'],
    ['deadline', 'timeout for good', 'timeout for good'],
    ['runTimeout', 'timeout for good', 'timeout for good'],
    ['canceled', 'canceled', 'canceled'],
    ['noLongerNeeded', 'succeeded', 'succeeded'],
  ] as const)(
    'attemptVerdict: asked to end for %s, a failure is %s and a cancellation is %s',
    (asked, failure, canceled) => {
      expect(meaning(killed, asked)).toBe(failure);
      expect(meaning({ result: 'canceled' }, asked)).toBe(canceled);
      expect(meaning({ result: 'succeeded' }, asked)).toBe('succeeded');
    },
  );
});
