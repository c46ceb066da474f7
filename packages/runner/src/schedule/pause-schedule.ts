import path from 'node:path';
import { describeUnknown, fail, ok, type Result } from '@sluice/core';
import { type Clock, createSystemClock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';
import { withHomeLock } from '../journal/home-lock.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { createPlannedTimes } from './planned-times.ts';
import { openScheduleRecords, type ScheduleRecords } from './schedule-record.ts';

/** A schedule that a process of this home has run at least once. */
export interface ScheduleSummary {
  readonly name: string;
  /** The pipeline's file at the last start, absolute; undefined in records of earlier versions. */
  readonly file?: string;
  readonly timezone: string;
  /** The next planned time, in milliseconds since the epoch; undefined if it is paused or has none. */
  readonly next?: number;
  /** When it was paused, in milliseconds since the epoch. */
  readonly pausedAt?: number;
}

/** The schedule to pause. `disk` and `clock` default to those of the machine. */
export interface PauseOptions {
  readonly home: string;
  readonly name: string;
  readonly disk?: Disk;
  readonly clock?: Clock;
}

/** Lists the schedules of a home by name. Changes nothing. */
export async function listSchedules({
  home,
  disk = createSystemDisk(),
  clock = createSystemClock(),
}: Omit<PauseOptions, 'name'>): Promise<readonly ScheduleSummary[]> {
  const root = path.resolve(home);
  const summaries: ScheduleSummary[] = [];
  for (const name of await disk.list(path.join(root, 'schedules'))) {
    const records = openScheduleRecords(disk, { home: root, name });
    const watched = await records.readWatched();
    if (watched === undefined) continue;
    const [cron, timezone] = JSON.parse(watched.schedule) as [readonly string[], string];
    const paused = await records.readPaused();
    const next = paused === undefined ? createPlannedTimes({ cron, timezone }).after(clock.wall()) : undefined;
    summaries.push({
      ...{ name, timezone },
      ...(watched.file !== undefined && { file: watched.file }),
      ...(next !== undefined && { next }),
      ...(paused !== undefined && { pausedAt: paused.at }),
    });
  }
  return summaries;
}

/**
 * Pauses a schedule for all processes of the home, now and later: no planned time is run until `unpauseSchedule`. Runs
 * that have begun continue. Durable when it resolves. The error says which schedules the home has.
 */
export async function pauseSchedule(given: PauseOptions & { readonly by: string }): Promise<Result<void, string>> {
  return change(given, async (records, now) => {
    if ((await records.readPaused()) === undefined) await records.writePaused({ at: now, by: given.by });
  });
}

/** Ends a pause. The times that passed meanwhile count as before the first start: they are not caught up. */
export async function unpauseSchedule(given: PauseOptions): Promise<Result<void, string>> {
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
  { home, name, disk = createSystemDisk(), clock = createSystemClock() }: PauseOptions,
  action: (records: ScheduleRecords, now: number) => Promise<void>,
): Promise<Result<void, string>> {
  const root = path.resolve(home);
  const names = (await listSchedules({ home: root, disk, clock })).map((schedule) => schedule.name);
  if (!names.includes(name)) return fail(`this home has no schedule ${describeUnknown(name, names)}`);
  const records = openScheduleRecords(disk, { home: root, name });
  await withHomeLock({ disk, clock, home: root, name: `schedule-${name}` }, () => action(records, clock.wall()));
  return ok(undefined);
}
