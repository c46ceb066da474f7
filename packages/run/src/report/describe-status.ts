import type { StatusReport } from '../schemas/status.ts';
import { type CellStatus, SHOWN_STATUSES } from '../schemas/statuses.ts';

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

/** A code, an index into `SHOWN_STATUSES`, in these words. */
export function describeCode(code: number): string {
  const { status, reused } = SHOWN_STATUSES[code]!;
  return describeStatus({ status, ...(reused && { reused }) });
}
