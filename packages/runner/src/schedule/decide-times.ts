import type { Schedule } from '@sluice/core';
import type { PlannedTimes } from './planned-times.ts';

/** So late a planned time still counts as on time: a loaded machine, or a schedule that was just started again. */
const ON_TIME_MS = 60_000;
/** Planned times that one outage brings back at most, the newest ones; and runs that may wait at once. */
export const MOST_WAITING = 100;

export interface DecisionInput {
  readonly schedule: Pick<Schedule, 'overlap' | 'catchup' | 'startingDeadlineMs'>;
  readonly times: PlannedTimes;
  readonly now: number;
  /** Everything that was planned up to here has been decided. */
  readonly considered: number;
  /** Runs of this schedule that are not over; those that have not begun count too. */
  readonly open: number;
}

export interface TimeDecisions {
  /** In order of time. */
  readonly decided: readonly { readonly planned: number; readonly skip?: string }[];
  /** The first and the last of the planned times that passed and are not made up for. */
  readonly missed?: { readonly first: number; readonly last: number };
}

/**
 * What becomes of the planned times that have come since the last decision. What is caught up waits for its turn
 * unless `overlap` allows or replaces; what comes on time goes by `overlap`.
 */
export function decideTimes(input: DecisionInput): TimeDecisions {
  const { schedule, times, now, considered, open } = input;
  const due = dueTimes(input);
  const decided = due.map((planned, index) => {
    const isOnTime = now - planned <= ON_TIME_MS;
    if (schedule.overlap === 'skip' && isOnTime && open > 0)
      return { planned, skip: 'the previous run has not finished' };
    const isFull = open + index >= MOST_WAITING && schedule.overlap !== 'replace' && schedule.overlap !== 'allow';
    return isFull ? { planned, skip: `${MOST_WAITING} runs are waiting already` } : { planned };
  });
  const last = times.upTo((due[0] ?? now + 1) - 1);
  if (last === undefined || last <= considered) return { decided };
  return { decided, missed: { first: times.after(considered) ?? last, last } };
}

/** The planned times that may still be run, in order. */
function dueTimes({ schedule, times, now, considered }: DecisionInput): number[] {
  const latest = schedule.startingDeadlineMs ?? (schedule.catchup === 'none' ? ON_TIME_MS : Number.POSITIVE_INFINITY);
  const most = schedule.catchup === 'all' && schedule.overlap !== 'replace' ? MOST_WAITING : 1;
  const due: number[] = [];
  for (let at = times.upTo(now); at !== undefined && due.length < most; at = times.upTo(at - 1)) {
    if (at <= considered || now - at > latest) break;
    due.unshift(at);
  }
  return due;
}
