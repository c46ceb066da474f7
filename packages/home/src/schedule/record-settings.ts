import { isDeepStrictEqual } from 'node:util';
import { fail, ok, type Result } from '@sluice/core';
import { type RunSettings, runSettings } from '@sluice/run';
import { z } from 'zod';
import { createSystemClock } from '../clock.ts';
import { withHomeLock } from '../journal/home-lock.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import type { SchedulePlace } from './find-schedule.ts';
import { openScheduleRecords } from './schedule-record.ts';

/** The settings of a schedule; undefined if no command has recorded them. Throws if the file is damaged. */
export function readScheduleSettings(place: SchedulePlace): Promise<RunSettings | undefined> {
  return openScheduleRecords(place.disk ?? createSystemDisk(), place).readSettings();
}

/**
 * Records the settings of a schedule durably; all processes that run it with others start no more runs. Resolves to the
 * settings before. The error says why these settings cannot be recorded; then nothing has changed.
 */
export async function recordScheduleSettings({
  settings,
  disk = createSystemDisk(),
  clock = createSystemClock(),
  ...place
}: SchedulePlace & { readonly settings: RunSettings }): Promise<Result<RunSettings | undefined, string>> {
  const { home, name } = place;
  const checked = runSettings.safeParse(settings);
  if (!checked.success) {
    return fail(`could not record the settings of the schedule ${name}: ${z.prettifyError(checked.error)}`);
  }
  const records = openScheduleRecords(disk, place);
  return withHomeLock({ disk, clock, home, name: `schedule-${name}` }, async () => {
    const before = await records.readSettings();
    if (!isDeepStrictEqual(before, checked.data)) await records.writeSettings(checked.data);
    return ok(before);
  });
}
