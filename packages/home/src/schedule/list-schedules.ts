import type { RunSettings } from '@sluice/run';
import { findSchedules, type SchedulePlace } from './find-schedule.ts';

/** A schedule that a process of this home has run at least once. Times are in milliseconds since the Unix epoch. */
export interface ScheduleSummary {
  readonly name: string;
  /** The pipeline's file at the last start, absolute; absent if it was not named. */
  readonly file?: string;
  /** Undefined: no command has recorded any, so only a command can run it. */
  readonly settings?: RunSettings;
  readonly timezone: string;
  /** The next planned times, in order; empty if it is paused. */
  readonly next: readonly number[];
  /** When it was paused. */
  readonly pausedAt?: number;
}

/** Lists the schedules of a home by name, each with at most `count` (default 1) next planned times. Changes nothing. */
export async function listSchedules({
  count = 1,
  ...place
}: Omit<SchedulePlace, 'name'> & { readonly count?: number }): Promise<readonly ScheduleSummary[]> {
  const summaries: ScheduleSummary[] = [];
  for (const { name, records, watched, timezone, times, clock } of await findSchedules(place)) {
    const paused = await records.readPaused();
    const settings = await records.readSettings();
    const next: number[] = [];
    let at = paused === undefined ? times.after(clock.wall()) : undefined;
    for (; at !== undefined && next.length < count; at = times.after(at)) next.push(at);
    summaries.push({
      ...{ name, timezone, next },
      ...(watched.file !== undefined && { file: watched.file }),
      ...(settings !== undefined && { settings }),
      ...(paused !== undefined && { pausedAt: paused.at }),
    });
  }
  return summaries;
}
