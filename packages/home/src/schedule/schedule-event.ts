import type { RunStatus } from '@sluice/run';

/** An action of a schedule; `plannedAt` is the planned time of a run. Plain JSON data; times in milliseconds since the epoch. */
export type ScheduleEvent = { readonly schedule: string; readonly at: number } & (
  | {
      readonly type: 'scheduledRunStarted' | 'scheduledRunResumed';
      readonly plannedAt: number;
      readonly runId: string;
    }
  | {
      readonly type: 'scheduledRunFinished';
      readonly plannedAt: number;
      readonly runId: string;
      readonly status: RunStatus;
    }
  /** This process does not execute the run any more, and the run has not ended. */
  | {
      readonly type: 'scheduledRunSuspended';
      readonly plannedAt: number;
      readonly runId: string;
      readonly message: string;
    }
  /** No run of this time will be started. */
  | { readonly type: 'plannedTimeSkipped'; readonly plannedAt: number; readonly message: string }
  /** The run could not be started now, and is tried again. */
  | { readonly type: 'plannedTimePostponed'; readonly plannedAt: number; readonly message: string }
  /** Planned times that passed while no process watched the schedule, and that `catchup` does not include. */
  | { readonly type: 'plannedTimesMissed'; readonly firstAt: number; readonly lastAt: number }
  /** The schedule is paused; until that ends, no planned time is run. */
  | { readonly type: 'schedulePaused'; readonly message: string }
  /** The schedule has other times than at its last start, perhaps because another file has the same name. */
  | { readonly type: 'scheduleChanged'; readonly message: string }
  /** The home could not be used, or another process watches the schedule with other times; it is tried again. */
  | { readonly type: 'scheduleBlocked'; readonly message: string }
);
