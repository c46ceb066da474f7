import type { Schedule } from '@sluice/core';
import type { PlannedTimes } from './planned-times.ts';

/** A planned time counts as on time up to this delay, for a busy machine or a schedule that was just restarted. */
const ON_TIME_MS = 60_000;
/** The most planned times that are caught up after an outage (the newest ones), and the most runs that wait. */
export const MAX_WAITING = 100;

/** The state of a schedule. Times are in milliseconds since the Unix epoch. */
export interface DecisionInput {
  readonly schedule: Pick<Schedule, 'overlap' | 'catchup' | 'startingDeadlineMs'>;
  readonly times: PlannedTimes;
  readonly now: number;
  /** All planned times up to this one are decided. */
  readonly considered: number;
  /** The number of runs of this schedule that have not ended, including those that have not started. */
  readonly open: number;
}

/** The decisions about the planned times since `considered`. */
export interface TimeDecisions {
  /** In order of time; with `skip`, the reason why the time is skipped. */
  readonly decided: readonly { readonly planned: number; readonly skip?: string }[];
  /** The first and the last of the past planned times that are not caught up. */
  readonly missed?: { readonly first: number; readonly last: number };
}

/**
 * Decides about the planned times since the last decision. Times that are caught up are queued, unless `overlap` is
 * `allow` or `replace`. For times that are on time, `overlap` decides.
 */
export function decideTimes(input: DecisionInput): TimeDecisions {
  const { schedule, times, now, considered, open } = input;
  const due = dueTimes(input);
  const decided = due.map((planned, index) => {
    const isOnTime = now - planned <= ON_TIME_MS;
    if (schedule.overlap === 'skip' && isOnTime && open > 0)
      return { planned, skip: 'the previous run has not finished' };
    const isFull = open + index >= MAX_WAITING && schedule.overlap !== 'replace' && schedule.overlap !== 'allow';
    return isFull ? { planned, skip: `${MAX_WAITING} runs are waiting already` } : { planned };
  });
  const last = times.upTo((due[0] ?? now + 1) - 1);
  if (last === undefined || last <= considered) return { decided };
  return { decided, missed: { first: times.after(considered) ?? last, last } };
}

/** The planned times that may still be run, in order. */
function dueTimes({ schedule, times, now, considered }: DecisionInput): number[] {
  const latest = schedule.startingDeadlineMs ?? (schedule.catchup === 'none' ? ON_TIME_MS : Number.POSITIVE_INFINITY);
  const most = schedule.catchup === 'all' && schedule.overlap !== 'replace' ? MAX_WAITING : 1;
  const due: number[] = [];
  for (let at = times.upTo(now); at !== undefined && due.length < most; at = times.upTo(at - 1)) {
    if (at <= considered || now - at > latest) break;
    due.unshift(at);
  }
  return due;
}
