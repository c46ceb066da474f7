import type { RunStatus } from '../scheduler/model/command.ts';

/** An action of a schedule; `planned` is the planned time of the run. Plain JSON data. */
export type ScheduleEvent = { readonly schedule: string; readonly at: number } & (
  | { readonly type: 'started' | 'resumed'; readonly planned: number; readonly runId: string }
  | { readonly type: 'finished'; readonly planned: number; readonly runId: string; readonly status: RunStatus }
  /** This process does not execute the run any more, and the run has not ended. */
  | { readonly type: 'left'; readonly planned: number; readonly runId: string; readonly message: string }
  /** No run of this time will be started. */
  | { readonly type: 'skipped'; readonly planned: number; readonly message: string }
  /** The run could not be started now, and is tried again. */
  | { readonly type: 'postponed'; readonly planned: number; readonly message: string }
  /** Planned times that passed while no process watched the schedule, and that `catchup` does not include. */
  | { readonly type: 'missed'; readonly first: number; readonly last: number }
  /** The schedule is paused; until that ends, no planned time is run. */
  | { readonly type: 'paused'; readonly message: string }
  /** The schedule has other times than at its last start, perhaps because another file has the same name. */
  | { readonly type: 'edited'; readonly message: string }
  /** The home could not be used, or another process watches the schedule with other times; it is tried again. */
  | { readonly type: 'troubled'; readonly message: string }
);
