import type { ScheduleEvent } from '@sluice/home';
import { plainLine } from '../text/plain-line.ts';
import { renderPlannedTime } from '../text/render-planned-time.ts';

/** One line per event; planned times are in the schedule's time zone. */
export function renderScheduleEvent(event: ScheduleEvent, timezone: string): string {
  return `${plainLine(describe(event, timezone))}\n`;
}

function describe(event: ScheduleEvent, timezone: string): string {
  const time = (at: number) => renderPlannedTime(at, timezone);
  switch (event.type) {
    case 'plannedTimesMissed': {
      const last = event.lastAt === event.firstAt ? '' : ` to ${time(event.lastAt)}`;
      return `${event.schedule} ${time(event.firstAt)}${last}: missed and not caught up`;
    }
    case 'schedulePaused':
      return `${event.schedule}: ${event.message}`;
    case 'scheduleChanged':
      return `${event.schedule}: warning: ${event.message}`;
    case 'scheduleBlocked':
      return `${event.schedule}: ${event.message}; retrying`;
    case 'scheduledRunStarted':
      return `${event.schedule} ${time(event.plannedAt)}: started run ${event.runId}`;
    case 'scheduledRunResumed':
      return `${event.schedule} ${time(event.plannedAt)}: resumed run ${event.runId}`;
    case 'scheduledRunFinished':
      return `${event.schedule} ${time(event.plannedAt)}: run ${event.runId} ${event.status}`;
    case 'scheduledRunSuspended':
      return `${event.schedule} ${time(event.plannedAt)}: suspended run ${event.runId}: ${event.message}`;
    case 'plannedTimeSkipped':
      return `${event.schedule} ${time(event.plannedAt)}: skipped: ${event.message}`;
    case 'plannedTimePostponed':
      return `${event.schedule} ${time(event.plannedAt)}: postponed: ${event.message}`;
  }
}
