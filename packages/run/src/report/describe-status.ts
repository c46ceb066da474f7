import type { CellStatus, StatusReport } from './cell-status.ts';

/**
 * A status for people, in the words of the JSON values: `reused` for a reused success, `failed (oom)` for a failure
 * that is not the fault of the program.
 */
export function describeStatus({ status, reused, reason = 'failed' }: StatusReport): string {
  if (reused) return 'reused';
  if (status === 'failed' && reason !== 'failed') return `failed (${reason})`;
  return WORDS[status] ?? status;
}

const WORDS: Partial<Record<CellStatus, string>> = { awaitingApproval: 'awaiting approval' };
