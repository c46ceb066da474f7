import type { Diagnostic, Pipeline } from '@sluice/core';
import { describeScheduleFault } from '@sluice/home';

/** The checks of the file know the syntax of a cron expression; this says whether it ever matches. */
export function findScheduleFault(schedule: NonNullable<Pipeline['schedule']>): Diagnostic | undefined {
  const message = describeScheduleFault(schedule, Date.now());
  return message === undefined ? undefined : { code: 'bad-cron', severity: 'error', message };
}
