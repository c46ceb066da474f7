import { createCron, cronReason, type Schedule } from '@sluice/core';

/** The planned times of all expressions of a schedule: whole minutes, in milliseconds since the Unix epoch. */
export interface PlannedTimes {
  /** The first one later than `time`; undefined if there is none. */
  after(time: number): number | undefined;
  /** The last one that is not later than `time`; undefined if there is none. */
  upTo(time: number): number | undefined;
}

/**
 * When clocks are set forward, an expression with fixed hours and minutes runs at the end of the gap; when they are set
 * back, it runs once, at the first of the two times. Wildcards and steps follow elapsed time: they skip the gap and run
 * at both times. Throws if `describeScheduleFault` returns a fault.
 */
export function createPlannedTimes({ cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>): PlannedTimes {
  const expressions = cron.map((expression) => createCron(expression, timezone));
  // A schedule is asked every few seconds, and an answer costs up to 100 µs for each expression: the last answer holds
  // until the next planned time.
  let coming: { readonly from: number; readonly next: number | undefined } | undefined;
  let past: { readonly last: number | undefined; readonly next: number | undefined } | undefined;

  function after(time: number): number | undefined {
    if (coming !== undefined && isWithin(time, coming.from, coming.next)) return coming.next;
    const next = expressions.map((expression) => expression.nextRun(new Date(time))?.getTime());
    coming = { from: time, next: choose(next, Math.min) };
    return coming.next;
  }

  function upTo(time: number): number | undefined {
    if (past !== undefined && isWithin(time, past.last, past.next)) return past.last;
    // The reference time itself is excluded, so one millisecond is added to include `time`.
    const last = expressions.map((expression) => expression.previousRuns(1, new Date(time + 1))[0]?.getTime());
    past = { last: choose(last, Math.max), next: after(time) };
    return past.last;
  }

  return { after, upTo };
}

function isWithin(time: number, from = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY): boolean {
  return time >= from && time < end;
}

/** Why a schedule can never run; undefined if it can. */
export function describeScheduleFault(
  { cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>,
  now: number,
): string | undefined {
  for (const expression of cron) {
    try {
      if (createCron(expression, timezone).nextRun(new Date(now)) === null) {
        return `the cron expression "${expression}" never matches any time`;
      }
    } catch (error) {
      const reason = cronReason(error);
      return `the cron expression "${expression}" in the time zone "${timezone}" cannot be used: ${reason}`;
    }
  }
  return undefined;
}

function choose(times: readonly (number | undefined)[], pick: (...times: number[]) => number): number | undefined {
  const found = times.filter((time) => time !== undefined);
  return found.length === 0 ? undefined : pick(...found);
}
