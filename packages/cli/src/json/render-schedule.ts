import type { ScheduleSummary } from '@sluice/home';
import { renderValue } from './render-value.ts';

/** A schedule as a line of JSON. */
export function renderSchedule({ name, file, settings, timezone, next, pausedAt }: ScheduleSummary): string {
  return renderValue('schedule', {
    schedule: name,
    ...(file !== undefined && { file }),
    ...(settings !== undefined && { settings }),
    timezone,
    ...(next[0] !== undefined && { nextAt: new Date(next[0]).toISOString() }),
    paused: pausedAt !== undefined,
    ...(pausedAt !== undefined && { pausedAt: new Date(pausedAt).toISOString() }),
  });
}
