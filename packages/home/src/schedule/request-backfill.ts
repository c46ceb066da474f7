import { fail, ok, type Result } from '@sluice/core';
import { createRunId } from '../identity/run-id.ts';
import { withHomeLock } from '../journal/home-lock.ts';
import { MAX_WAITING } from './decide-times.ts';
import { findSchedule, type SchedulePlace } from './find-schedule.ts';
import type { ScheduleRecord, ScheduleRecords, StartRecord } from './schedule-record.ts';

/** The planned times to run, both ends included, in milliseconds since the Unix epoch. */
export interface BackfillRequest extends SchedulePlace {
  readonly from: number;
  readonly to: number;
  /** Return what would happen, and change nothing. */
  readonly dryRun: boolean;
}

/** What a backfill does. */
export interface RequestedBackfill {
  readonly timezone: string;
  /** The pipeline's file at the last start of the schedule. */
  readonly file?: string;
  /** The planned times that are run. */
  readonly planned: readonly number[];
  /** Those that have a run already. */
  readonly existing: readonly StartRecord[];
}

/**
 * Records durably that planned times are run which have no run yet: those that were skipped or missed. The processes that
 * run the schedule, now or later, execute them one after the other. The error is a sentence for the user.
 */
export async function requestBackfill(request: BackfillRequest): Promise<Result<RequestedBackfill, string>> {
  const schedule = await findSchedule(request);
  if (!schedule.ok) return schedule;
  const { records, times, timezone, watched, disk, clock, home, name } = schedule.value;
  const { from, to, dryRun } = request;
  const reject = (why: string) => fail(`could not backfill the schedule ${name}: ${why}`);
  if (to < from) return reject('the range ends before it begins');
  if (to > clock.wall()) return reject('the range ends in the future');
  const found = await withHomeLock({ disk, clock, home, name: `schedule-${name}` }, async () => {
    const existing = (await records.listBetween(from, to)).filter((record) => record.decision === 'start');
    const isStarted = new Set(existing.map(({ planned }) => planned));
    const planned: number[] = [];
    for (let at = times.after(from - 1); at !== undefined && at <= to; at = times.after(at)) {
      if (!isStarted.has(at)) planned.push(at);
      if (planned.length > MAX_WAITING) return undefined;
    }
    if (!dryRun) for (const at of planned) await recordBackfill(records, at);
    return { existing, planned };
  });
  if (found === undefined) return reject(`the range has more than ${MAX_WAITING} planned times without a run`);
  if (found.planned.length + found.existing.length === 0) return reject('the range contains no planned time');
  return ok({ ...found, timezone, ...(watched.file !== undefined && { file: watched.file }) });
}

/** Records that a planned time is run, unless it has a run. Resolves to the valid record. Under the schedule's lock. */
export async function recordBackfill(records: ScheduleRecords, planned: number): Promise<ScheduleRecord> {
  const wanted: ScheduleRecord = { decision: 'start', planned, cause: 'backfill', runId: createRunId() };
  if (await records.create(wanted)) return wanted;
  const there = await records.read(planned);
  if (there?.decision === 'start') return there;
  await records.replace(wanted);
  return wanted;
}
