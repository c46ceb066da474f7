import type { Schedule } from '@sluice/core';
import type { RunLiveness } from './run-liveness.ts';
import type { StartRecord } from './schedule-record.ts';

/** A run that was decided on and is not over. */
export interface OpenRun {
  readonly record: StartRecord;
  readonly liveness: Exclude<RunLiveness['kind'], 'over'>;
}

export interface StartDecisions {
  /** To be started or resumed now. */
  readonly open: readonly OpenRun[];
  /** Have begun and make room for a newer one. */
  readonly cancel: readonly OpenRun[];
  /** Never began and never will. */
  readonly drop: readonly { readonly run: OpenRun; readonly reason: string }[];
}

/**
 * Which runs may go on now; `runs` in order of their planned times. What has begun is always taken up again, since its
 * containers may still be there.
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
  if (schedule.overlap === 'allow') return { open: [...left, ...absent], cancel: [], drop };
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
