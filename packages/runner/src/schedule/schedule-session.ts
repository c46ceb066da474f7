import type { Plan, Schedule } from '@sluice/core';
import type { Claim } from '../journal/disk.ts';
import type { RunStatus } from '../scheduler/model/command.ts';
import type { FilledOptions } from '../session/run-defaults.ts';
import type { RunHandle, RunnerOptions, StartRunOptions } from '../session/run-options.ts';
import type { OpenRun } from './decide-starts.ts';
import type { PlannedTimes } from './planned-times.ts';
import { readRunLiveness } from './run-liveness.ts';
import type { ScheduleEvent } from './schedule-event.ts';
import type { ScheduleRecords } from './schedule-record.ts';

export interface ScheduleOptions extends RunnerOptions, Pick<StartRunOptions, 'scope' | 'baseDir'> {
  /** Its pipeline has a `schedule`; every run is a run of this plan. */
  readonly plan: Plan;
  readonly onEvent: (event: ScheduleEvent) => void;
}

type WithoutStamp<T> = T extends unknown ? Omit<T, 'schedule' | 'at'> : never;

/** What the parts of a schedule that is open share. */
export interface ScheduleSession {
  readonly name: string;
  readonly schedule: Schedule;
  readonly times: PlannedTimes;
  readonly options: FilledOptions<ScheduleOptions>;
  readonly records: ScheduleRecords;
  /** The runs that this process drives, by ID. */
  readonly driven: Map<string, RunHandle>;
  /** The runs that this process is about to drive: starting may take long, in a concurrency group for example. */
  readonly opening: Set<string>;
  /** Until when the runs that could not be started are left alone. */
  readonly postponed: Map<string, number>;
  /** That this process watches the schedule with its times; undefined where another one with the same times does. */
  watching: Claim | undefined;
  /** The runs that are known to be over, by ID: they are not looked at again. */
  readonly over: Map<string, RunStatus>;
  readonly closed: () => boolean;
  /** Has the schedule look again at once. */
  readonly wake: () => void;
  /** A bug of ours: ends the schedule. */
  readonly fail: (error: unknown) => void;
  readonly report: (event: WithoutStamp<ScheduleEvent>) => void;
}

/** The runs that were decided on and are not over, in order of their planned times. */
export async function findOpenRuns(session: ScheduleSession): Promise<OpenRun[]> {
  const { records, over, driven, opening, options } = session;
  const open: OpenRun[] = [];
  for (const record of await records.listNewest()) {
    if (record.verdict !== 'start' || over.has(record.runId)) continue;
    if (driven.has(record.runId) || opening.has(record.runId)) {
      open.push({ record, liveness: 'driven' });
      continue;
    }
    const liveness = await readRunLiveness(options.disk, options.home, record.runId);
    if (liveness.kind === 'over') over.set(record.runId, liveness.status);
    else open.push({ record, liveness: liveness.kind });
  }
  return open;
}
