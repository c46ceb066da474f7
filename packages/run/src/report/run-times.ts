import type { RunReport } from '../schemas/run-report.ts';

type Times = Pick<RunReport, 'createdAt' | 'startedAt' | 'endedAt'>;

/** When a run began to execute; of one that has not yet, when it was recorded. */
export function runBeganAt({ createdAt, startedAt }: Times): number {
  return startedAt ?? createdAt;
}

/**
 * The duration that every list and page shows of a run: without its wait for a concurrency group, and until `now` if it
 * has not ended.
 */
export function tookMs(run: Times, now: number): number {
  return (run.endedAt ?? now) - runBeganAt(run);
}
