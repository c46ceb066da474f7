import { createHash } from 'node:crypto';
import path from 'node:path';
import { createRunId, decideTimes, recordBackfill, type ScheduleRecord, withHomeLock } from '@sluice/home';
import { findOpenRuns, hasRecordedSettings, type ScheduleSession } from './schedule-session.ts';

/**
 * Decides about every planned time that has passed, and records the decisions durably. Any number of processes may do
 * this concurrently: they decide about overlaps under a lock, and even without it, each time can be recorded only once.
 * False: another process watches the schedule of this name with other times, or its settings were changed, and nothing
 * was decided.
 */
export function takePlannedTimes(session: ScheduleSession): Promise<boolean> {
  return withScheduleLock(session, async () => {
    if (!(await hasRecordedSettings(session)) || !(await claimWatch(session))) return false;
    const { records, schedule, times } = session;
    const now = session.options.clock.wall();
    const considered = await consideredUpTo(session, now);
    if (await reportPause(session)) return true;
    const latest = times.upTo(now);
    if (latest === undefined || latest <= considered) return true;
    const open = (await findOpenRuns(session)).length;
    const { decided, missed } = decideTimes({ schedule, times, now, considered, open });
    if (missed) session.report({ type: 'plannedTimesMissed', firstAt: missed.first, lastAt: missed.last });
    for (const { planned, skip } of decided) {
      const record: ScheduleRecord =
        skip === undefined
          ? { decision: 'start', planned, cause: 'time', runId: createRunId() }
          : { decision: 'skip', planned, cause: 'time', reason: skip };
      if ((await records.create(record)) && skip !== undefined) {
        session.report({ type: 'plannedTimeSkipped', plannedAt: planned, message: skip });
      }
    }
    return true;
  });
}

/**
 * Claims the schedule with its times for this process; processes with the same times may watch it, too. Two processes
 * with different times would each reset the schedule at every poll, so that nothing would ever start.
 */
async function claimWatch(session: ScheduleSession): Promise<boolean> {
  const { disk } = session.options;
  const text = describeTimes(session);
  const watched = await session.records.readWatched();
  const isOther = watched !== undefined && watched.schedule !== text;
  if (isOther && (await disk.ask(watchDirectory(session, watched.schedule), '')) !== undefined) {
    const next = 'end that process, or give one of the pipelines another name';
    const cause = `another process watches it with other times (${renderTimes(watched.schedule)})`;
    session.report({
      type: 'scheduleBlocked',
      message: `could not watch the schedule ${session.name}: ${cause}; ${next}`,
    });
    return false;
  }
  session.watching ??= await disk.claim(watchDirectory(session, text));
  return true;
}

function watchDirectory({ options, name }: ScheduleSession, text: string): string {
  const times = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return path.join(options.home, 'locks', `schedule-${name}-watch-${times}`);
}

function describeTimes({ schedule }: ScheduleSession): string {
  return JSON.stringify([schedule.cron, schedule.timezone]);
}

/** The text of `describeTimes` in a form for messages. */
function renderTimes(text: string): string {
  const [cron, timezone] = JSON.parse(text) as [readonly string[], string];
  return `${cron.join('; ')} ${timezone}`;
}

/** Decides to run a planned time that the user requested. Resolves to the record that is valid now. */
export function takeForBackfill(session: ScheduleSession, planned: number): Promise<ScheduleRecord> {
  return withScheduleLock(session, () => recordBackfill(session.records, planned));
}

/** One process at a time decides for a schedule. */
export function withScheduleLock<T>(session: ScheduleSession, action: () => Promise<T>): Promise<T> {
  const { disk, clock, home } = session.options;
  return withHomeLock({ disk, clock, home, name: `schedule-${session.name}` }, action);
}

/**
 * The time up to which all planned times are decided. Records of future times (the clock was ahead) and of backfills do
 * not count. If the times were edited, the schedule restarts at the present time.
 */
async function consideredUpTo(session: ScheduleSession, now: number): Promise<number> {
  const { records } = session;
  const text = describeTimes(session);
  let watched = await records.readWatched();
  const { file } = session.options;
  if (watched === undefined || watched.schedule !== text || watched.since > now) {
    const before = watched?.schedule ?? text;
    const first = before === text ? Math.min(watched?.first ?? now, now) : now;
    watched = { since: now, first, schedule: text, file };
    await records.writeWatched(watched);
    if (before !== text) reportEdit(session, before);
  } else if (file !== undefined && watched.file !== file) {
    await records.writeWatched({ ...watched, file });
  }
  const times = (await records.listCurrent()).filter(({ cause, planned }) => cause === 'time' && planned <= now);
  return Math.max(watched.since, times.at(-1)?.planned ?? 0);
}

/** True: the schedule is paused. Its planned times pass without a record, and none is caught up afterwards. */
async function reportPause(session: ScheduleSession): Promise<boolean> {
  const paused = await session.records.readPaused();
  if (paused === undefined) return false;
  const since = new Date(paused.at).toISOString();
  session.report({ type: 'schedulePaused', message: `paused by ${paused.by} at ${since}; no planned time is run` });
  return true;
}

/** If two files with one name are started alternately, the schedule is reset each time; this must not go unnoticed. */
function reportEdit(session: ScheduleSession, before: string): void {
  const change = `${renderTimes(before)} at the last start, ${renderTimes(describeTimes(session))} now`;
  const next = 'nothing planned before now is started; if another file has this name, rename one of the two pipelines';
  session.report({ type: 'scheduleChanged', message: `the times have changed (${change}): ${next}` });
}
