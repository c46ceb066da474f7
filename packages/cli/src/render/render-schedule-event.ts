import type { ScheduleEvent } from '@sluice/runner';
import { renderPlannedTime } from '../text/render-planned-time.ts';

/** One line per event; planned times are in the schedule's time zone. */
export function renderScheduleEvent(event: ScheduleEvent, timezone: string): string {
  const time = (at: number) => renderPlannedTime(at, timezone);
  switch (event.type) {
    case 'missed': {
      const last = event.last === event.first ? '' : ` to ${time(event.last)}`;
      return `${event.schedule} ${time(event.first)}${last}: missed and not caught up\n`;
    }
    case 'paused':
      return `${event.schedule}: ${event.message}\n`;
    case 'edited':
      return `${event.schedule}: warning: ${event.message}\n`;
    case 'troubled':
      return `${event.schedule}: ${event.message}; retrying\n`;
    case 'started':
    case 'resumed':
      return `${event.schedule} ${time(event.planned)}: ${event.type} run ${event.runId}\n`;
    case 'finished':
      return `${event.schedule} ${time(event.planned)}: run ${event.runId} ${event.status}\n`;
    case 'left':
      return `${event.schedule} ${time(event.planned)}: detached from run ${event.runId}: ${event.message}\n`;
    case 'skipped':
    case 'postponed':
      return `${event.schedule} ${time(event.planned)}: ${event.type}: ${event.message}\n`;
  }
}
