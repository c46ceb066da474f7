import type { RunStatus } from '../scheduler/model/command.ts';

/** What a schedule has done; `planned` is the time that it was to be done at. Plain JSON data. */
export type ScheduleEvent = { readonly schedule: string; readonly at: number } & (
  | { readonly type: 'started' | 'resumed'; readonly planned: number; readonly runId: string }
  | { readonly type: 'finished'; readonly planned: number; readonly runId: string; readonly status: RunStatus }
  /** This process drives the run no more, and it is not over. */
  | { readonly type: 'left'; readonly planned: number; readonly runId: string; readonly message: string }
  /** No run of that time is started, now or later. */
  | { readonly type: 'skipped'; readonly planned: number; readonly message: string }
  /** It could not be started now, and is tried again. */
  | { readonly type: 'postponed'; readonly planned: number; readonly message: string }
  /** Planned times that passed while nobody looked, and that `catchup` does not bring back. */
  | { readonly type: 'missed'; readonly first: number; readonly last: number }
  /** The schedule has other times than at its last start, which may have been of another file with the same name. */
  | { readonly type: 'edited'; readonly message: string }
  /** The home could not be used, or another process watches the schedule with other times; it is tried again. */
  | { readonly type: 'troubled'; readonly message: string }
);
