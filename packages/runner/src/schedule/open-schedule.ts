import { fail, ok, type Result } from '@sluice/core';
import {
  createPlannedTimes,
  describeScheduleFault,
  isDiskError,
  openScheduleRecords,
  readRunLiveness,
} from '@sluice/home';
import { withDefaults } from '../session/run-defaults.ts';
import { findOpenRuns, type ScheduleOptions, type ScheduleSession } from './schedule-session.ts';
import { takeForBackfill, takePlannedTimes } from './take-planned-times.ts';
import { updateScheduledRuns } from './update-scheduled-runs.ts';

/** A schedule of this process. Only one of `watch`, `runDue` and `backfill` may be in progress at a time. */
export interface OpenSchedule {
  /** Executes the run of every planned time until `close`, and resumes the runs that an earlier process left. */
  watch(): Promise<void>;
  /** Executes the runs that are due, and those that were left, to their end. False: not all of them succeeded. */
  runDue(): Promise<boolean>;
  /** Executes the runs from `from` to `to` inclusive, one after the other, except those that have run. False: not all succeeded. */
  backfill(range: { readonly from: number; readonly to: number }): Promise<boolean>;
  /** Suspends the runs; resolves when their journals are closed. */
  close(): Promise<void>;
}

/** A schedule polls at least this often, to notice a clock that was set, a suspended machine, and runs of other processes. */
const POLL_MS = 10_000;

/** Opens the schedule of a plan without starting anything. The error says why the schedule can never run. */
export function openSchedule(given: ScheduleOptions): Result<OpenSchedule, string> {
  const options = withDefaults(given);
  const { clock, plan } = options;
  const { name, schedule } = plan.pipeline;
  if (schedule === undefined) return fail(`the pipeline ${name} has no schedule`);
  const fault = describeScheduleFault(schedule, clock.wall());
  if (fault !== undefined) return fail(fault);

  const pause = createPause();
  let [closed, failure] = [false, undefined as { error: unknown } | undefined];
  let reported = '';
  const session: ScheduleSession = {
    name,
    schedule,
    times: createPlannedTimes(schedule),
    options,
    records: openScheduleRecords(options.disk, { home: options.home, name }),
    active: new Map(),
    opening: new Set(),
    postponed: new Map(),
    watching: undefined,
    ended: new Map(),
    closed: () => closed,
    wake: pause.wake,
    fail: (error) => {
      failure ??= { error };
      pause.wake();
    },
    report(event) {
      const before = reported;
      reported = JSON.stringify(event);
      // An event that repeats at every poll is reported once.
      if (reported !== before) options.onEvent({ schedule: name, at: clock.wall(), ...event });
    },
  };
  const rest = (): Promise<void> => {
    if (failure) throw failure.error;
    if (closed) return Promise.resolve();
    const next = session.times.after(clock.wall()) ?? Number.POSITIVE_INFINITY;
    return pause.until((wake) => clock.setTimer(clock.now() + Math.min(next - clock.wall(), POLL_MS), wake));
  };
  return ok({
    watch: () => watch(session, rest),
    runDue: () => runDue(session, rest),
    backfill: (range) => backfill(session, { ...range, rest }),
    async close() {
      closed = true;
      pause.wake();
      await Promise.all([...session.active.values()].map((handle) => handle.suspend()));
      const { watching } = session;
      session.watching = undefined;
      await watching?.release();
    },
  });
}

async function watch(session: ScheduleSession, rest: () => Promise<void>): Promise<void> {
  while (!session.closed()) {
    await reportDiskErrors(session, async () => {
      if (await takePlannedTimes(session)) await updateScheduledRuns(session);
    });
    await rest();
  }
}

async function runDue(session: ScheduleSession, rest: () => Promise<void>): Promise<boolean> {
  if (!(await takePlannedTimes(session))) return false;
  const mine = new Set((await findOpenRuns(session)).map(({ record }) => record.runId));
  while (!session.closed()) {
    if (!(await updateScheduledRuns(session)) && !executesRuns(session)) return false;
    const open = await findOpenRuns(session);
    if (open.every(({ record }) => session.postponed.has(record.runId))) break;
    await rest();
  }
  return [...mine].every((runId) => session.ended.get(runId) === 'succeeded');
}

async function backfill(
  session: ScheduleSession,
  { from, to, rest }: { from: number; to: number; rest: () => Promise<void> },
): Promise<boolean> {
  const { times, options, ended, records } = session;
  let [good, at] = [true, times.after(from - 1)];
  for (; at !== undefined && at <= to && !session.closed(); at = times.after(at)) {
    const planned = at;
    const record = await takeForBackfill(session, planned);
    if (record.decision !== 'start') continue;
    const { runId } = record;
    const before = await readRunLiveness(options.disk, options.home, runId);
    const isRemoved = before.kind === 'absent' && !(await isCurrent(session, planned));
    if (before.kind === 'ended' || isRemoved) {
      if (before.kind === 'ended') ended.set(runId, before.status);
      await records.settle(planned);
      const message =
        before.kind === 'ended'
          ? `run ${runId} of that time ${before.status} before`
          : `run ${runId} of that time ended before, and was removed`;
      session.report({ type: 'plannedTimeSkipped', plannedAt: planned, message });
      continue;
    }
    while (!session.closed() && !ended.has(runId)) {
      if ((await records.read(planned))?.decision === 'skip') break;
      let mayRun = true;
      await reportDiskErrors(session, async () => {
        mayRun = await updateScheduledRuns(session);
      });
      if (!mayRun && !executesRuns(session)) return false;
      const liveness = await readRunLiveness(options.disk, options.home, runId);
      if (liveness.kind === 'ended') ended.set(runId, liveness.status);
      else if ((await records.read(planned))?.decision === 'start') await rest();
    }
    if (ended.has(runId)) await records.settle(planned);
    good &&= ended.get(runId) === 'succeeded';
  }
  return good;
}

/** False: the run of this time has ended, and may have been removed since. */
async function isCurrent({ records }: ScheduleSession, planned: number): Promise<boolean> {
  return (await records.listCurrent()).some((record) => record.planned === planned);
}

function executesRuns({ active, opening }: ScheduleSession): boolean {
  return active.size + opening.size > 0;
}

/** Reports an error of the home's disk, which may be temporary, instead of throwing it. */
async function reportDiskErrors(session: ScheduleSession, action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isDiskError(error)) throw error;
    session.report({ type: 'scheduleBlocked', message: (error as Error).message });
  }
}

/** One wait at a time that can be ended early. A wake before the wait ends it immediately. */
function createPause(): {
  wake(): void;
  until(setTimer: (wake: () => void) => () => void): Promise<void>;
} {
  let isAwake = false;
  let end: (() => void) | undefined;
  const wake = () => {
    isAwake = true;
    end?.();
  };
  return {
    wake,
    async until(setTimer) {
      let clearTimer = () => {};
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          end = resolve;
          clearTimer = setTimer(wake);
        });
      }
      clearTimer();
      end = undefined;
      isAwake = false;
    },
  };
}
