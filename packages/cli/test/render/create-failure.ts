import type { FailureReport } from '@sluice/run';

/** An attempt of cell `a` of step `fit` that failed. */
export function createFailure(more: Partial<FailureReport> = {}): FailureReport {
  return {
    step: 'fit',
    cell: 'a',
    attempt: 1,
    status: 'failed',
    reason: 'failed',
    message: 'exit code 3',
    logTail: [],
    ...more,
  };
}
