import { createHash } from 'node:crypto';
import path from 'node:path';
import { createRunId } from '../identity/run-id.ts';
import { withHomeLock } from '../journal/home-lock.ts';
import { decideTimes } from './decide-times.ts';
import type { ScheduleRecord } from './schedule-record.ts';
import { findOpenRuns, type ScheduleSession } from './schedule-session.ts';

/**
 * Decides about every planned time that has come, and makes the decisions durable. Any number of processes may do so at
 * once: the lock has them agree about overlaps, and the record of a time can be made once only even without it. False:
 * a living process watches the schedule of this name with other times, and nothing is decided here.
 */
export function takePlannedTimes(session: ScheduleSession): Promise<boolean> {
  return inTurn(session, async () => {
    if (!(await standsWatch(session))) return false;
    const { records, schedule, times } = session;
    const now = session.options.clock.wall();
    const considered = await consideredUpTo(session, now);
    const latest = times.upTo(now);
    if (latest === undefined || latest <= considered) return true;
    const open = (await findOpenRuns(session)).length;
    const { decided, missed } = decideTimes({ schedule, times, now, considered, open });
    if (missed) session.report({ type: 'missed', ...missed });
    for (const { planned, skip } of decided) {
      const record: ScheduleRecord =
        skip === undefined
          ? { verdict: 'start', planned, cause: 'time', runId: createRunId() }
          : { verdict: 'skip', planned, cause: 'time', reason: skip };
      if ((await records.create(record)) && skip !== undefined) {
        session.report({ type: 'skipped', planned, message: skip });
      }
    }
    return true;
  });
}

/**
 * Claims the schedule with its times for this process, beside others that watch it with the same ones. Two processes with
 * different times would each begin anew at every look, and nothing would ever start.
 */
async function standsWatch(session: ScheduleSession): Promise<boolean> {
  const { disk } = session.options;
  const text = describeTimes(session);
  const watched = await session.records.readWatched();
  const isOther = watched !== undefined && watched.schedule !== text;
  if (isOther && (await disk.ask(watchDirectory(session, watched.schedule), '')) !== undefined) {
    const next = 'end that process, or give one of the pipelines another name';
    const cause = `another process watches it with other times (${renderTimes(watched.schedule)})`;
    session.report({ type: 'troubled', message: `could not watch the schedule ${session.name}: ${cause}; ${next}` });
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

/** For people: what `describeTimes` wrote. */
function renderTimes(text: string): string {
  const [cron, timezone] = JSON.parse(text) as [readonly string[], string];
  return `${cron.join('; ')} ${timezone}`;
}

/** Decides that a planned time is run because somebody asks for it. Gives the record that holds now. */
export function takeForBackfill(session: ScheduleSession, planned: number): Promise<ScheduleRecord> {
  return inTurn(session, async () => {
    const { records } = session;
    const wanted: ScheduleRecord = { verdict: 'start', planned, cause: 'backfill', runId: createRunId() };
    if (await records.create(wanted)) return wanted;
    const there = await records.read(planned);
    if (there?.verdict === 'start') return there;
    await records.replace(wanted);
    return wanted;
  });
}

/** One process at a time decides for a schedule. */
export function inTurn<T>(session: ScheduleSession, action: () => Promise<T>): Promise<T> {
  const { disk, clock, home } = session.options;
  return withHomeLock({ disk, clock, home, name: `schedule-${session.name}` }, action);
}

/**
 * Records of times that are still to come (the clock was ahead) say nothing about those before them, and neither do
 * backfills. A schedule that was edited begins anew.
 */
async function consideredUpTo(session: ScheduleSession, now: number): Promise<number> {
  const { records } = session;
  const text = describeTimes(session);
  let watched = await records.readWatched();
  if (watched === undefined || watched.schedule !== text || watched.since > now) {
    const before = watched?.schedule ?? text;
    watched = { since: now, schedule: text };
    await records.writeWatched(watched);
    if (before !== text) reportEdit(session, before);
  }
  const times = (await records.listNewest()).filter(({ cause, planned }) => cause === 'time' && planned <= now);
  return Math.max(watched.since, times.at(-1)?.planned ?? 0);
}

/** Two files of one name that are started in turn, never at once, would otherwise begin anew each time unseen. */
function reportEdit(session: ScheduleSession, before: string): void {
  const change = `${renderTimes(before)} at the last start, ${renderTimes(describeTimes(session))} now`;
  const next = 'nothing planned before now is started; if another file has this name, rename one of the two pipelines';
  session.report({ type: 'edited', message: `the times have changed (${change}): ${next}` });
}
