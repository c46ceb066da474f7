import type { Schedule } from '@sluice/core';
import type { RunLiveness } from './run-liveness.ts';
import type { StartRecord } from './schedule-record.ts';

/** A run that is to be executed and has not ended. */
export interface OpenRun {
  readonly record: StartRecord;
  readonly liveness: Exclude<RunLiveness['kind'], 'ended'>;
}

/** The next actions for the runs of a schedule. */
export interface StartDecisions {
  /** To be started or resumed now. */
  readonly open: readonly OpenRun[];
  /** Started runs that a newer one replaces. */
  readonly cancel: readonly OpenRun[];
  /** Runs that have not started and will not be started. */
  readonly drop: readonly { readonly run: OpenRun; readonly reason: string }[];
}

/**
 * Decides which runs may be executed now; `runs` is ordered by planned time. A run that has started is always resumed,
 * since its containers may still exist.
 */
export function decideStarts(
  runs: readonly OpenRun[],
  { schedule, now }: { schedule: Pick<Schedule, 'overlap' | 'startingDeadlineMs'>; now: number },
): StartDecisions {
  const late = runs.filter((run) => isTooLate(run, { now, deadlineMs: schedule.startingDeadlineMs }));
  const drop = late.map((run) => ({ run, reason: 'its starting deadline passed while it waited' }));
  const rest = runs.filter((run) => !late.includes(run));
  const begun = rest.filter(({ liveness }) => liveness !== 'absent');
  const left = begun.filter(({ liveness }) => liveness === 'suspended');
  const absent = rest.filter(({ liveness }) => liveness === 'absent');
  if (schedule.overlap === 'allow') {
    // Those of a backfill run one after the other: it may have a hundred.
    const isBackfill = ({ record }: OpenRun) => record.cause === 'backfill';
    const next = begun.some(isBackfill) ? undefined : absent.find(isBackfill);
    return { open: [...left, ...absent.filter((run) => !isBackfill(run) || run === next)], cancel: [], drop };
  }
  if (schedule.overlap !== 'replace') {
    return { open: begun.length > 0 ? left : absent.slice(0, 1), cancel: [], drop };
  }
  const newest = rest.findLast(({ record }) => record.cause === 'time');
  const isOld = (run: OpenRun) => run !== newest && run.record.cause === 'time';
  const replaced = absent.filter(isOld).map((run) => ({ run, reason: 'replaced by a newer run' }));
  return {
    open: begun.length > 0 ? left.filter((run) => !isOld(run)) : absent.filter((run) => !isOld(run)).slice(0, 1),
    cancel: begun.filter(isOld),
    drop: [...drop, ...replaced],
  };
}

function isTooLate({ record, liveness }: OpenRun, given: { now: number; deadlineMs: number | undefined }): boolean {
  if (liveness !== 'absent' || record.cause !== 'time' || given.deadlineMs === undefined) return false;
  return given.now - record.planned > given.deadlineMs;
}
