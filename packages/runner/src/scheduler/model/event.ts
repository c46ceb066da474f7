import type { FailureClass } from '@sluice/core';

/**
 * Everything that can happen to a run, as the scheduler hears it. The journal holds these very events (with facts for
 * the shell beside them), so replaying it through `Scheduler.handle` gives the state back.
 * `at` is milliseconds since the epoch, given by the shell: the scheduler has no clock.
 */
export type SchedulerEvent =
  /** The run begins. The first event of every journal. */
  | { readonly type: 'started'; readonly at: number }
  /** Answer to `decide`: the step's `when` holds, and a `foreach` step has this many cells; of no meaning for others. */
  | { readonly type: 'decided'; readonly at: number; readonly step: number; readonly cells: number }
  /** Answer to `decide`: `when` is false. */
  | { readonly type: 'skipped'; readonly at: number; readonly step: number }
  /** Answer to `decide`: an expression could not be evaluated. */
  | { readonly type: 'evaluationFailed'; readonly at: number; readonly step: number; readonly message: string }
  /** Answer to `lookUp`: outputs of an earlier success are reused. */
  | ({ readonly type: 'cacheHit' } & CellEvent)
  /** Answer to `lookUp`. */
  | ({ readonly type: 'cacheMissed' } & CellEvent)
  /** Answer to `submit`: the service has the container under our ID. */
  | ({ readonly type: 'submitted' } & AttemptEvent)
  /** Answer to `submit`: nothing was started, try the same attempt again at `until` (quota, 429, pool of another run, service away). */
  | ({
      readonly type: 'postponed';
      readonly reason: PostponeReason;
      readonly until: number;
      /** For people: who holds what is waited for. */
      readonly detail?: string;
    } & AttemptEvent)
  /** What a submission was put off for is there now: it is tried again before its time. */
  | ({ readonly type: 'capacityFreed' } & AttemptEvent)
  /** The container has reached Running. */
  | ({ readonly type: 'running' } & AttemptEvent)
  /** A `service` step answers its readiness check. */
  | ({ readonly type: 'serviceReady' } & AttemptEvent)
  /** The attempt has ended, by a terminal phase of its incarnation or because it was refused. */
  | ({ readonly type: 'ended'; readonly outcome: Outcome } & AttemptEvent)
  /** Answer to `publish`: the outputs are in their published place and the results are read. */
  | ({ readonly type: 'published' } & AttemptEvent)
  /** A person has answered an approval step. */
  | {
      readonly type: 'approved';
      readonly at: number;
      readonly step: number;
      readonly approved: boolean;
      readonly by: string;
    }
  /** The shell has seen `Scheduler.stuck`: what waits for room that nobody will free fails. `message` says what is held by what. */
  | { readonly type: 'stuck'; readonly at: number; readonly message: string }
  /** A time that `wake` asked for has come. */
  | { readonly type: 'tick'; readonly at: number }
  /** A person or a concurrency group ends the run: nothing new starts, what runs is cancelled, `finally` still runs. */
  | { readonly type: 'cancelRequested'; readonly at: number; readonly by: string };

interface CellEvent {
  readonly at: number;
  /** Index into `plan.steps`. */
  readonly step: number;
  /** Index into the step's cells; 0 for a plain step. */
  readonly cell: number;
}

export interface AttemptEvent extends CellEvent {
  /** From 1. An answer for another attempt than the cell's present one changes nothing. */
  readonly attempt: number;
}

export type PostponeReason = 'quota' | 'throttled' | 'pool' | 'volume' | 'unavailable' | 'storage' | 'placement';

/** How one attempt ended. `failed` names the class, decided before any exit-code rule. */
export type Outcome =
  | { readonly result: 'succeeded' }
  | {
      readonly result: 'failed';
      readonly class: FailureClass;
      readonly exitCode?: number;
      readonly message: string;
      /** The service or the expression refused the container itself: no retry can help. */
      readonly permanent?: boolean;
    }
  | { readonly result: 'canceled' };
