import type { RunFacts } from '../facts/run-facts.ts';
import type { RunReport } from '../schemas/run-report.ts';

type Times = Pick<RunReport, 'createdAt' | 'startedAt' | 'endedAt'>;
type RunInList = Pick<RunReport, 'runId' | 'createdAt'>;

/** The times of a run that its journal has recorded. */
export function timesOf({ header, startedAt, finished }: RunFacts): Times {
  return {
    createdAt: header?.at ?? startedAt,
    ...(startedAt > 0 && { startedAt }),
    ...(finished && { endedAt: finished.at }),
  };
}

/** The order of every list of runs. */
export function newestFirst(a: RunInList, b: RunInList): number {
  return b.createdAt - a.createdAt || (a.runId < b.runId ? -1 : 1);
}

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
