import { expect, test } from 'vitest';
import { describeStatus } from '../../src/report/describe-status.ts';
import type { StatusReport } from '../../src/schemas/status.ts';

test.each<[StatusReport, string]>([
  [{ status: 'succeeded' }, 'succeeded'],
  [{ status: 'succeeded', reused: true }, 'reused'],
  [{ status: 'failed', reason: 'failed' }, 'failed'],
  [{ status: 'failed', reason: 'oom' }, 'failed (oom)'],
  [{ status: 'failed', reason: 'timeout' }, 'failed (timeout)'],
  [{ status: 'failed', reason: 'infrastructure' }, 'failed (infrastructure)'],
  [{ status: 'awaitingApproval' }, 'awaiting approval'],
  [{ status: 'pending' }, 'pending'],
])('%j is shown as %s', (status, words) => {
  expect(describeStatus(status)).toBe(words);
});
