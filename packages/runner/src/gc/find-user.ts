import type { RunRecord } from './read-run-records.ts';

/** Why one of these runs may need a run that was to be removed. */
export function findUser(
  since: readonly RunRecord[],
  runId: string,
  { isCached }: { isCached: boolean },
): string | undefined {
  if (isCached && since.some(({ status }) => status === 'running')) return 'a run in progress may reuse its outputs';
  const user = since.find((run) => run.runId !== runId && (run.needs === undefined || run.needs.runs.has(runId)));
  return user && `run ${user.runId} reuses its outputs, or may do so`;
}
