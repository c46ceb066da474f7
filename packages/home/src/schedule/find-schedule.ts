import path from 'node:path';
import { describeUnknown, fail, ok, type Result } from '@sluice/core';
import { type Clock, createSystemClock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { createPlannedTimes, type PlannedTimes } from './planned-times.ts';
import { openScheduleRecords, type ScheduleRecords, type Watched } from './schedule-record.ts';

/** A schedule of a home. `disk` and `clock` default to those of the machine. */
export interface SchedulePlace {
  readonly home: string;
  readonly name: string;
  readonly disk?: Disk;
  readonly clock?: Clock;
}

/** A schedule that a process of the home has run at least once. */
export interface FoundSchedule extends Required<SchedulePlace> {
  readonly records: ScheduleRecords;
  readonly watched: Watched;
  readonly timezone: string;
  /** According to its last start. */
  readonly times: PlannedTimes;
}

/** Finds a schedule by its name. The error says which schedules the home has. */
export async function findSchedule(place: SchedulePlace): Promise<Result<FoundSchedule, string>> {
  const known = await findSchedules(place);
  const found = known.find(({ name }) => name === place.name);
  if (found !== undefined) return ok(found);
  const names = known.map(({ name }) => name);
  return fail(`this home has no schedule ${describeUnknown(place.name, names)}`);
}

/** All schedules of a home, by name. Changes nothing. */
export async function findSchedules({
  home,
  disk = createSystemDisk(),
  clock = createSystemClock(),
}: Omit<SchedulePlace, 'name'>): Promise<readonly FoundSchedule[]> {
  const root = path.resolve(home);
  const found: FoundSchedule[] = [];
  for (const name of await disk.list(path.join(root, 'schedules'))) {
    const records = openScheduleRecords(disk, { home: root, name });
    const watched = await records.readWatched();
    if (watched === undefined) continue;
    const [cron, timezone] = JSON.parse(watched.schedule) as [readonly string[], string];
    const times = createPlannedTimes({ cron, timezone });
    found.push({ home: root, name, disk, clock, records, watched, timezone, times });
  }
  return found;
}
