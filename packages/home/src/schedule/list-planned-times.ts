import { ok, type Result } from '@sluice/core';
import { findSchedule, type SchedulePlace } from './find-schedule.ts';

/** A planned time of a schedule, in milliseconds since the Unix epoch, and what became of it. */
export type PlannedTimeReport = { readonly planned: number } & (
  | { readonly status: 'started'; readonly cause: 'time' | 'backfill'; readonly runId: string }
  | { readonly status: 'skipped'; readonly reason: string }
  /** It has passed and no run was recorded for it: no process watched the schedule, or it was paused. */
  | { readonly status: 'missed' }
  /** It is in the future. */
  | { readonly status: 'planned' }
);

/** A part of a schedule's history and future, both ends included. */
export interface PlannedTimesQuery extends SchedulePlace {
  readonly from: number;
  readonly to: number;
  /** The most entries to return. */
  readonly limit: number;
  /** Only times with a run, and skipped ones. Default: false. */
  readonly onlyRecorded?: boolean | undefined;
}

/**
 * The planned times of a schedule in order: those of its present expressions since it was first watched with them, and
 * those that were recorded before. The error says which schedules the home has.
 */
export async function listPlannedTimes(query: PlannedTimesQuery): Promise<Result<PlannedTimeReport[], string>> {
  const found = await findSchedule(query);
  if (!found.ok) return found;
  const { records, times, clock, watched } = found.value;
  const { from, to, limit, onlyRecorded = false } = query;
  const recorded = await records.listBetween(from, to);
  const planned = new Set(recorded.map((record) => record.planned));
  let more = onlyRecorded ? 0 : limit;
  for (
    let at = times.after(Math.max(from - 1, watched.first ?? watched.since));
    at !== undefined && at <= to && more > 0;
    at = times.after(at)
  ) {
    planned.add(at);
    more -= 1;
  }
  const byTime = new Map(recorded.map((record) => [record.planned, record]));
  const now = clock.wall();
  const reports = [...planned]
    .sort((a, b) => a - b)
    .slice(0, limit)
    .map((at): PlannedTimeReport => {
      const record = byTime.get(at);
      if (record === undefined) return { planned: at, status: at > now ? 'planned' : 'missed' };
      if (record.decision === 'skip') return { planned: at, status: 'skipped', reason: record.reason };
      return { planned: at, status: 'started', cause: record.cause, runId: record.runId };
    });
  return ok(reports);
}
