import { createRunId } from '../identity/run-id.ts';
import { withHomeLock } from '../journal/home-lock.ts';
import { decideTimes } from './decide-times.ts';
import type { ScheduleRecord } from './schedule-record.ts';
import { findOpenRuns, type ScheduleSession } from './schedule-session.ts';

/**
 * Decides about every planned time that has come, and makes the decisions durable. Any number of processes may do so at
 * once: the lock has them agree about overlaps, and the record of a time can be made once only even without it.
 */
export async function takePlannedTimes(session: ScheduleSession): Promise<void> {
  await inTurn(session, async () => {
    const { records, schedule, times } = session;
    const now = session.options.clock.now();
    const considered = await consideredUpTo(session, now);
    const latest = times.upTo(now);
    if (latest === undefined || latest <= considered) return;
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
  });
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
  const { records, schedule } = session;
  const text = JSON.stringify([schedule.cron, schedule.timezone]);
  let watched = await records.readWatched();
  if (watched === undefined || watched.schedule !== text || watched.since > now) {
    watched = { since: now, schedule: text };
    await records.writeWatched(watched);
  }
  const times = (await records.listNewest()).filter(({ cause, planned }) => cause === 'time' && planned <= now);
  return Math.max(watched.since, times.at(-1)?.planned ?? 0);
}
