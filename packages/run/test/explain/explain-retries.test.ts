import type { FailureClass, Retry } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { explainRetries } from '../../src/explain/explain-retries.ts';
import type { AttemptFacts } from '../../src/facts/run-facts.ts';

const RETRY: Retry = {
  limit: 1,
  on: ['failed', 'oom'],
  backoff: { initialMs: 0, factor: 1, maxMs: 0 },
  escalate: [],
  infrastructure: 1,
};

function failed(attempt: number, failure: FailureClass, more: { exitCode?: number; permanent?: boolean } = {}) {
  const outcome = { result: 'failed', class: failure, message: 'it failed', ...more } as const;
  return { attempt, submitted: true, container: {}, outcome } satisfies AttemptFacts;
}

const explain = (attempts: readonly AttemptFacts[], retry = RETRY, isFinished = true) => [
  ...explainRetries(attempts, { retry, isFinished }).values(),
];

describe('explainRetries', () => {
  test('names the budget that each retry used', () => {
    expect(explain([failed(1, 'infrastructure'), failed(2, 'failed'), failed(3, 'failed')])).toEqual([
      'tried again: retry 1 of 1 of those for infrastructure failures',
      'tried again: retry 1 of 1 for failed',
      'not tried again: all its retries (1) are used',
    ]);
  });

  test.each([
    [failed(1, 'failed'), { ...RETRY, limit: 0 }, 'the step has no retry'],
    [failed(1, 'timeout'), RETRY, 'retry.on is for failed, oom, and this is timeout'],
    [failed(1, 'failed', { exitCode: 3 }), { ...RETRY, exitCodes: [75] }, 'retry.exitCodes is for 75, and this is 3'],
    [failed(1, 'failed', { permanent: true }), RETRY, 'no retry can help'],
  ])('names the rule that forbids another attempt', (attempt, retry, why) => {
    expect(explain([attempt], retry)).toEqual([`not tried again: ${why}`]);
  });

  test('names the size that the next attempt gets', () => {
    const retry = { ...RETRY, escalate: ['large'] };
    expect(explain([failed(1, 'oom')], retry, false)).toEqual(['tried again: retry 1 of 1 for oom, with large']);
  });

  test('tells a run that was being stopped from a rule', () => {
    expect(explain([failed(1, 'failed')])).toEqual([
      'not tried again, although its retries allow it: the run was being stopped',
    ]);
  });
});
