import type { ScheduleEvent } from '@sluice/home';
import { renderTimes } from '@sluice/run';
import { renderEventValue } from './render-event-value.ts';

/** The schedule is watched from now on; printed only as JSON. */
interface ScheduleWatched {
  readonly type: 'scheduleWatched';
  readonly schedule: string;
  readonly at: number;
  readonly nextAt?: number;
}

/** Converts an event to a line of JSON. */
export type ScheduleEventRenderer = (event: ScheduleEvent | ScheduleWatched) => string;

/** Numbers the events of all schedules of this process. */
export function createScheduleEventRenderer(): ScheduleEventRenderer {
  let seq = 0;
  return (event) => {
    seq += 1;
    return renderEventValue({ seq, ...renderTimes(event) });
  };
}
