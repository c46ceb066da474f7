import type { HomePlace } from '@sluice/home';
import { type RunRecord, readRunRecords } from './read-run-records.ts';

/**
 * Runs that have started or resumed since the first read: they may have read the cache index before its entries were
 * removed, or may reuse a run since before it was marked.
 */
export function lookAgain({ disk, home }: HomePlace, before: readonly RunRecord[]): Promise<RunRecord[]> {
  const over = new Set(before.flatMap(({ runId, endedAt }) => (endedAt === undefined ? [] : [runId])));
  return readRunRecords(disk, home, (runId) => !over.has(runId));
}
