import type { ScheduleEvent } from '@sluice/runner';
import { onOneLine } from '../text/on-one-line.ts';
import { renderPlannedTime } from '../text/render-planned-time.ts';

/** One line per event; planned times are in the schedule's time zone. */
export function renderScheduleEvent(event: ScheduleEvent, timezone: string): string {
  const time = (at: number) => renderPlannedTime(at, timezone);
  switch (event.type) {
    case 'plannedTimesMissed': {
      const last = event.lastAt === event.firstAt ? '' : ` to ${time(event.lastAt)}`;
      return `${event.schedule} ${time(event.firstAt)}${last}: missed and not caught up\n`;
    }
    case 'schedulePaused':
      return `${event.schedule}: ${event.message}\n`;
    case 'scheduleChanged':
      return `${event.schedule}: warning: ${onOneLine(event.message)}\n`;
    case 'scheduleBlocked':
      return `${event.schedule}: ${event.message}; retrying\n`;
    case 'scheduledRunStarted':
      return `${event.schedule} ${time(event.plannedAt)}: started run ${event.runId}\n`;
    case 'scheduledRunResumed':
      return `${event.schedule} ${time(event.plannedAt)}: resumed run ${event.runId}\n`;
    case 'scheduledRunFinished':
      return `${event.schedule} ${time(event.plannedAt)}: run ${event.runId} ${event.status}\n`;
    case 'scheduledRunDetached':
      return `${event.schedule} ${time(event.plannedAt)}: detached from run ${event.runId}: ${event.message}\n`;
    case 'plannedTimeSkipped':
      return `${event.schedule} ${time(event.plannedAt)}: skipped: ${event.message}\n`;
    case 'plannedTimePostponed':
      return `${event.schedule} ${time(event.plannedAt)}: postponed: ${event.message}\n`;
  }
}
