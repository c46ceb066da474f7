import type { Plan, Schedule } from '@sluice/core';
import {
  type Claim,
  describeSettingsChange,
  type OpenRun,
  type PlannedTimes,
  type RunLiveness,
  readRunLiveness,
  type ScheduleEvent,
  type ScheduleRecords,
} from '@sluice/home';
import type { RunSettings, RunStatus } from '@sluice/run';
import type { FilledOptions } from '../session/run-defaults.ts';
import type { RunHandle, RunnerOptions, StartRunOptions } from '../session/run-options.ts';

/** The plan of a schedule, and how its runs are executed. */
export interface ScheduleOptions extends RunnerOptions, Pick<StartRunOptions, 'scope' | 'baseDir' | 'order'> {
  /** Its pipeline has a `schedule`. All runs execute this plan. */
  readonly plan: Plan;
  /** The pipeline's file, absolute, for the list of schedules. */
  readonly file?: string;
  /**
   * With these, the plan was created. If others are recorded for the schedule, no run is started. Default: no parameters
   * and no options.
   */
  readonly settings?: RunSettings;
  readonly onEvent: (event: ScheduleEvent) => void;
}

type WithoutStamp<T> = T extends unknown ? Omit<T, 'schedule' | 'at'> : never;

/** The state that the functions of an open schedule share. */
export interface ScheduleSession {
  readonly name: string;
  readonly schedule: Schedule;
  readonly times: PlannedTimes;
  readonly options: FilledOptions<ScheduleOptions>;
  readonly records: ScheduleRecords;
  /** The runs that this process executes, by ID. */
  readonly active: Map<string, RunHandle>;
  /** The runs that this process is starting, which may take long, for example in a concurrency group. */
  readonly opening: Set<string>;
  /** When runs that could not be started may be tried again, by ID. */
  readonly postponed: Map<string, number>;
  /** The claim to watch the schedule with its times; undefined if another process with the same times has it. */
  watching: Claim | undefined;
  /** The runs that are known to have ended, by ID: they are not read again. */
  readonly ended: Map<string, RunStatus>;
  readonly closed: () => boolean;
  /** Makes the schedule poll immediately. */
  readonly wake: () => void;
  /** Ends the schedule with an error, which is a bug. */
  readonly fail: (error: unknown) => void;
  readonly report: (event: WithoutStamp<ScheduleEvent>) => void;
}

const ACTIVE: RunLiveness = { kind: 'active' };

/** The recorded runs that have not ended, in order of their planned times. */
export async function findOpenRuns(session: ScheduleSession): Promise<OpenRun[]> {
  const { records, ended, active, opening, options } = session;
  const open: OpenRun[] = [];
  for (const { isOpen, ...record } of await records.listCurrent()) {
    if (record.decision !== 'start') continue;
    const { planned, runId } = record;
    if (!ended.has(runId)) {
      const isOurs = active.has(runId) || opening.has(runId);
      const liveness = isOurs ? ACTIVE : await readRunLiveness(options.disk, options.home, runId);
      if (liveness.kind === 'ended') ended.set(runId, liveness.status);
      else open.push({ record, liveness: liveness.kind });
    }
    // Without a lock: the record of a run that has ended never changes.
    if (isOpen && ended.has(runId)) await records.settle(planned);
  }
  return open;
}

/**
 * Whether this process has the settings that are recorded for the schedule, or none are recorded. Otherwise it reports the
 * difference, and must start no run: it would have the parameters of an earlier command.
 */
export async function hasRecordedSettings(session: ScheduleSession): Promise<boolean> {
  const recorded = await session.records.readSettings();
  const change = recorded && describeSettingsChange(session.options.settings ?? { params: {} }, recorded);
  if (change === undefined) return true;
  const next = 'it runs with the new ones in the processes that were started later; restart this one, or end it';
  session.report({
    type: 'scheduleBlocked',
    message: `could not run the schedule ${session.name}: another command has changed its settings (${change}); ${next}`,
  });
  return false;
}
