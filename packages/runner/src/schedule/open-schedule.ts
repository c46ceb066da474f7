import { fail, ok, type Result } from '@sluice/core';
import { isDiskError } from '../record/disk-error.ts';
import { withDefaults } from '../session/run-defaults.ts';
import { driveScheduledRuns } from './drive-scheduled-runs.ts';
import { createPlannedTimes, describeScheduleFault } from './planned-times.ts';
import { readRunLiveness } from './run-liveness.ts';
import { openScheduleRecords } from './schedule-record.ts';
import { findOpenRuns, type ScheduleOptions, type ScheduleSession } from './schedule-session.ts';
import { takeForBackfill, takePlannedTimes } from './take-planned-times.ts';

/** A schedule that this process looks after. Only one of the three ways to use it may be under way at a time. */
export interface OpenSchedule {
  /** Runs every planned time that comes until `close`; takes up the runs that an earlier process left. */
  watch(): Promise<void>;
  /** Runs what is due now, with what was left, to its end. False: not everything succeeded. */
  runDue(): Promise<boolean>;
  /** Runs the planned times from `from` to `to`, both included, one after the other; those that ran before are left out. */
  backfill(range: { readonly from: number; readonly to: number }): Promise<boolean>;
  /** Leaves the runs to themselves, as `detach` does; resolves when their journals are closed. */
  close(): Promise<void>;
}

/**
 * So often a schedule looks at least: a clock that was set, a machine that slept and runs that other processes drive
 * are noticed by looking.
 */
const LOOK_MS = 10_000;

/** Opens the schedule of a plan. Does nothing yet; the error says why the schedule can never run. */
export function openSchedule(given: ScheduleOptions): Result<OpenSchedule, string> {
  const options = withDefaults(given);
  const { clock, plan } = options;
  const { name, schedule } = plan.pipeline;
  if (schedule === undefined) return fail(`the pipeline ${name} has no schedule`);
  const fault = describeScheduleFault(schedule, clock.wall());
  if (fault !== undefined) return fail(fault);

  const pause = createPause();
  let [closed, failure] = [false, undefined as { error: unknown } | undefined];
  let told = '';
  const session: ScheduleSession = {
    name,
    schedule,
    times: createPlannedTimes(schedule),
    options,
    records: openScheduleRecords(options.disk, { home: options.home, name }),
    driven: new Map(),
    opening: new Set(),
    postponed: new Map(),
    watching: undefined,
    over: new Map(),
    closed: () => closed,
    wake: pause.wake,
    fail: (error) => {
      failure ??= { error };
      pause.wake();
    },
    report(event) {
      const before = told;
      told = JSON.stringify(event);
      // What is tried again at every look is told once.
      if (told !== before) options.onEvent({ schedule: name, at: clock.wall(), ...event });
    },
  };
  const rest = (): Promise<void> => {
    if (failure) throw failure.error;
    if (closed) return Promise.resolve();
    const next = session.times.after(clock.wall()) ?? Number.POSITIVE_INFINITY;
    return pause.until((wake) => clock.setTimer(clock.now() + Math.min(next - clock.wall(), LOOK_MS), wake));
  };
  return ok({
    watch: () => watch(session, rest),
    runDue: () => runDue(session, rest),
    backfill: (range) => backfill(session, { ...range, rest }),
    async close() {
      closed = true;
      pause.wake();
      await Promise.all([...session.driven.values()].map((handle) => handle.detach()));
      const { watching } = session;
      session.watching = undefined;
      await watching?.release();
    },
  });
}

async function watch(session: ScheduleSession, rest: () => Promise<void>): Promise<void> {
  while (!session.closed()) {
    await bearTrouble(session, async () => {
      if (await takePlannedTimes(session)) await driveScheduledRuns(session);
    });
    await rest();
  }
}

async function runDue(session: ScheduleSession, rest: () => Promise<void>): Promise<boolean> {
  if (!(await takePlannedTimes(session))) return false;
  const mine = new Set((await findOpenRuns(session)).map(({ record }) => record.runId));
  while (!session.closed()) {
    await driveScheduledRuns(session);
    const open = await findOpenRuns(session);
    if (open.every(({ record }) => session.postponed.has(record.runId))) break;
    await rest();
  }
  return [...mine].every((runId) => session.over.get(runId) === 'succeeded');
}

async function backfill(
  session: ScheduleSession,
  { from, to, rest }: { from: number; to: number; rest: () => Promise<void> },
): Promise<boolean> {
  const { times, options, over, records } = session;
  let [good, at] = [true, times.after(from - 1)];
  for (; at !== undefined && at <= to && !session.closed(); at = times.after(at)) {
    const planned = at;
    const record = await takeForBackfill(session, planned);
    if (record.verdict !== 'start') continue;
    const { runId } = record;
    const before = await readRunLiveness(options.disk, options.home, runId);
    if (before.kind === 'over') {
      over.set(runId, before.status);
      session.report({ type: 'skipped', planned, message: `run ${runId} of that time ${before.status} before` });
      continue;
    }
    while (!session.closed() && !over.has(runId)) {
      if ((await records.read(planned))?.verdict === 'skip') break;
      await bearTrouble(session, () => driveScheduledRuns(session));
      const liveness = await readRunLiveness(options.disk, options.home, runId);
      if (liveness.kind === 'over') over.set(runId, liveness.status);
      else if ((await records.read(planned))?.verdict === 'start') await rest();
    }
    good &&= over.get(runId) === 'succeeded';
  }
  return good;
}

/** What the disk of the home cannot do now it may be able to do later. */
async function bearTrouble(session: ScheduleSession, action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isDiskError(error)) throw error;
    session.report({ type: 'troubled', message: (error as Error).message });
  }
}

/** One wait at a time that can be ended early; a wake that comes before the wait ends it too. */
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
      let forget = () => {};
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          end = resolve;
          forget = setTimer(wake);
        });
      }
      forget();
      end = undefined;
      isAwake = false;
    },
  };
}
