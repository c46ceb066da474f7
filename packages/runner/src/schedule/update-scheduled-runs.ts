import path from 'node:path';
import type { Result } from '@sluice/core';
import { decideStarts, isDiskError, type OpenRun, runDirectory } from '@sluice/home';
import { isTemporary, type RunError } from '@sluice/run';
import { resumeRun } from '../run/resume-run.ts';
import { startRun } from '../run/start-run.ts';
import { askRunner } from '../session/ask-runner.ts';
import type { RunHandle } from '../session/run-options.ts';
import { findOpenRuns, hasRecordedSettings, type ScheduleSession } from './schedule-session.ts';
import { withScheduleLock } from './take-planned-times.ts';

/** The originator of the cancel request when a newer run replaces an older one. */
const CANCELED_BY = 'schedule';
/** The delay before a run that could not be started is tried again. */
const AGAIN_MS = 10_000;

/**
 * Starts, resumes and cancels runs as `decideStarts` decides. Does nothing while another process does this. Runs are
 * opened in the background; each wakes the schedule when it is open. False: the settings were changed, so that this process
 * opens no more runs.
 */
export async function updateScheduledRuns(session: ScheduleSession): Promise<boolean> {
  const { disk, home, clock } = session.options;
  if (!(await hasRecordedSettings(session))) return false;
  const claim = await disk.claim(path.join(home, 'locks', `schedule-${session.name}-runs`));
  if (claim === undefined) return true;
  const openings: Promise<void>[] = [];
  try {
    const decisions = decideStarts(await findUnpausedRuns(session), { schedule: session.schedule, now: clock.wall() });
    for (const { run, reason } of decisions.drop) await drop(session, run, reason);
    for (const run of decisions.cancel) await cancel(session, run);
    for (const run of decisions.open) {
      // It was closed while the records were read, and has left its runs.
      if (session.closed()) break;
      if ((session.postponed.get(run.record.runId) ?? 0) > clock.now()) continue;
      openings.push(openInBackground(session, run));
    }
  } finally {
    void Promise.all(openings).then(() => claim.release());
  }
  return true;
}

/** While the schedule is paused, only the runs that have begun, and those of a backfill, which a person requested. */
async function findUnpausedRuns(session: ScheduleSession): Promise<OpenRun[]> {
  const runs = await findOpenRuns(session);
  if ((await session.records.readPaused()) === undefined) return runs;
  return runs.filter(({ record, liveness }) => liveness !== 'absent' || record.cause === 'backfill');
}

async function openInBackground(session: ScheduleSession, run: OpenRun): Promise<void> {
  const { runId } = run.record;
  session.postponed.delete(runId);
  session.opening.add(runId);
  try {
    if (await open(session, run)) session.postponed.set(runId, session.options.clock.now() + AGAIN_MS);
  } catch (error) {
    session.postponed.set(runId, session.options.clock.now() + AGAIN_MS);
    if (isDiskError(error)) session.report({ type: 'scheduleBlocked', message: (error as Error).message });
    else session.fail(error);
  } finally {
    session.opening.delete(runId);
    session.wake();
  }
}

/** True: the run could not be started now. */
async function open(session: ScheduleSession, run: OpenRun): Promise<boolean> {
  const { planned, runId } = run.record;
  const { plan, scope, baseDir } = session.options;
  const options = { ...session.options, runId };
  const resumed = await resumeRun(options);
  if (resumed.ok) {
    attach(session, { run, handle: resumed.value });
    session.report({ type: 'scheduledRunResumed', plannedAt: planned, runId });
    return false;
  }
  if (resumed.error.code === 'RUN_FINISHED') return false;
  if (resumed.error.code !== 'RUN_NOT_FOUND') return reject(session, run, resumed);
  const started = await startRun({ ...options, plan, scope, baseDir, plannedTime: planned });
  if (!started.ok) return reject(session, run, started);
  session.report({ type: 'scheduledRunStarted', plannedAt: planned, runId });
  attach(session, { run, handle: started.value });
  return false;
}

/** Follows a run of this process to its end. */
function attach(session: ScheduleSession, { run, handle }: { run: OpenRun; handle: RunHandle }): void {
  const { planned, runId } = run.record;
  session.active.set(runId, handle);
  const finished = handle.finished.then(({ status, message }) => {
    session.active.delete(runId);
    if (status === 'suspended' || status === 'running' || status === 'waiting') {
      session.report({
        type: 'scheduledRunSuspended',
        plannedAt: planned,
        runId,
        message: message ?? 'it has not finished',
      });
    } else {
      session.ended.set(runId, status);
      session.report({ type: 'scheduledRunFinished', plannedAt: planned, runId, status });
    }
    session.wake();
  });
  finished.catch(session.fail);
  if (session.closed()) void handle.suspend();
}

async function reject(
  session: ScheduleSession,
  run: OpenRun,
  { error }: Extract<Result<RunHandle, RunError>, { ok: false }>,
): Promise<boolean> {
  const { planned } = run.record;
  // Another process was faster and executes the run, which is sufficient.
  if (error.code === 'RUN_IN_USE') return false;
  // A run that has started may have containers: only the user may abandon it.
  if (isTemporary(error) || error.code === 'JOURNAL_LOST' || run.liveness !== 'absent') {
    session.report({ type: 'plannedTimePostponed', plannedAt: planned, message: error.message });
    return true;
  }
  await drop(session, run, error.message);
  return false;
}

/** Records that the run of this planned time is skipped. */
async function drop(session: ScheduleSession, { record }: OpenRun, reason: string): Promise<void> {
  const { planned, cause, runId } = record;
  await withScheduleLock(session, async () => {
    const there = await session.records.read(planned);
    if (there?.decision !== 'start' || there.runId !== runId) return;
    await session.records.replace({ decision: 'skip', planned, cause, reason });
    await session.records.settle(planned);
    session.report({ type: 'plannedTimeSkipped', plannedAt: planned, message: reason });
  });
}

async function cancel(session: ScheduleSession, run: OpenRun): Promise<void> {
  const { runId } = run.record;
  const { disk, clock, home } = session.options;
  const ours = session.active.get(runId);
  if (ours) {
    ours.cancel(CANCELED_BY);
  } else if (run.liveness === 'active') {
    await askRunner({ disk, clock }, runDirectory(home, runId), { verb: 'cancel', by: CANCELED_BY });
  } else {
    const resumed = await resumeRun({ ...session.options, runId, cancelBy: CANCELED_BY });
    if (resumed.ok) attach(session, { run, handle: resumed.value });
    else if (resumed.error.code !== 'RUN_FINISHED') await reject(session, run, resumed);
  }
}
