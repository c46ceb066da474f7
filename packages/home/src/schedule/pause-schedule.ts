import { ok, type Result } from '@sluice/core';
import { withHomeLock } from '../journal/home-lock.ts';
import { findSchedule, type SchedulePlace } from './find-schedule.ts';
import type { ScheduleRecords } from './schedule-record.ts';

/**
 * Pauses a schedule for all processes of the home, now and later: no planned time is run until `unpauseSchedule`. Runs
 * that have begun continue. Durable when it resolves. The error says which schedules the home has.
 */
export async function pauseSchedule(given: SchedulePlace & { readonly by: string }): Promise<Result<void, string>> {
  return change(given, async (records, now) => {
    if ((await records.readPaused()) === undefined) await records.writePaused({ at: now, by: given.by });
  });
}

/** Ends a pause. The times that passed meanwhile count as before the first start: they are not caught up. */
export async function unpauseSchedule(given: SchedulePlace): Promise<Result<void, string>> {
  return change(given, async (records, now) => {
    if ((await records.readPaused()) === undefined) return;
    const watched = (await records.readWatched())!;
    // In this order: if the process is killed in between, the schedule is still paused.
    await records.writeWatched({ ...watched, since: now });
    await records.removePaused();
  });
}

/** Under the lock of the processes that decide about planned times. */
async function change(
  place: SchedulePlace,
  action: (records: ScheduleRecords, now: number) => Promise<void>,
): Promise<Result<void, string>> {
  const found = await findSchedule(place);
  if (!found.ok) return found;
  const { records, disk, clock, home, name } = found.value;
  await withHomeLock({ disk, clock, home, name: `schedule-${name}` }, () => action(records, clock.wall()));
  return ok(undefined);
}
