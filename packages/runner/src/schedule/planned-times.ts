import { createCron, cronReason, type Schedule } from '@sluice/core';

/** When a schedule is to run: milliseconds since the epoch, whole minutes, of all its expressions together. */
export interface PlannedTimes {
  /** The first one later than `time`; undefined where none comes any more. */
  after(time: number): number | undefined;
  /** The last one that is not later than `time`. */
  upTo(time: number): number | undefined;
}

/**
 * Where clocks are set forward, an expression of fixed hours and minutes runs at the end of the gap; where they are set
 * back, it runs once, at the first of the two. Wildcards and steps go by elapsed time instead: they skip the gap and
 * run in both. Throws where `describeScheduleFault` has something to say.
 */
export function createPlannedTimes({ cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>): PlannedTimes {
  const expressions = cron.map((expression) => createCron(expression, timezone));
  return {
    after(time) {
      const next = expressions.map((expression) => expression.nextRun(new Date(time))?.getTime());
      return choose(next, Math.min);
    },
    upTo(time) {
      // The reference itself is left out, so one millisecond more takes in what is planned for `time`.
      const last = expressions.map((expression) => expression.previousRuns(1, new Date(time + 1))[0]?.getTime());
      return choose(last, Math.max);
    },
  };
}

/** Why a schedule can never run as it stands. Undefined: it can. */
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
