import type { BoundItem, FailureClass, KeyValues } from '@sluice/core';

/**
 * Everything that can happen to a run, as the scheduler receives it. The journal stores these events (with facts for the
 * shell), so replaying them through `Scheduler.handle` restores the state.
 * `at` is milliseconds since the epoch, supplied by the shell: the scheduler has no clock.
 */
export type SchedulerEvent =
  /** The run begins. The first event of every journal. */
  | { readonly type: 'started'; readonly at: number }
  /**
   * Answer to `decide`: the step's `when` holds. `cells` is the number of cells of a `foreach` step; ignored for
   * others. `values`: of each decided cell, in order, what `hasLateValues` says is not in the plan.
   */
  | ({ readonly type: 'decided'; readonly cells: number; readonly values?: readonly KeyValues[] } & GateEvent)
  /** Answer to `decide`: `when` is false. */
  | ({ readonly type: 'skipped' } & GateEvent)
  /** Answer to `decide`: an expression could not be evaluated. */
  | ({ readonly type: 'evaluationFailed'; readonly message: string } & GateEvent)
  /** Answer to `lookUp`: outputs of an earlier success are reused. */
  | ({ readonly type: 'cacheHit' } & ListingEvent & CellEvent)
  /** Answer to `lookUp`. */
  | ({ readonly type: 'cacheMissed' } & CellEvent)
  /** Answer to `submit`: the service has the container under our ID. */
  | ({ readonly type: 'submitted' } & AttemptEvent)
  /** Answer to `submit`: nothing was started; the same attempt is tried again at `until`. */
  | ({
      readonly type: 'postponed';
      readonly reason: PostponeReason;
      readonly until: number;
      /** For people: what holds the capacity. */
      readonly detail?: string;
    } & AttemptEvent)
  /** The capacity that a submission was postponed for is free: it is tried again before its time. */
  | ({ readonly type: 'capacityFreed' } & AttemptEvent)
  /** The service pulls the image of the container, which then waits for nothing else: its timeout limits the pull, too. */
  | ({ readonly type: 'pulling' } & AttemptEvent)
  /**
   * The container has reached Running. `since`: it did so at the latest then, before it was observed; its timeout counts
   * from there.
   */
  | ({ readonly type: 'running'; readonly since?: number } & AttemptEvent)
  /** A `service` step has passed its readiness check. */
  | ({ readonly type: 'serviceReady' } & AttemptEvent)
  /** A `service` step has not passed its readiness check within its limit. `message`: for people, with the last reason. */
  | ({ readonly type: 'notReady'; readonly message: string } & AttemptEvent)
  /** The attempt has ended, by a terminal phase of its container or because the service rejected it. */
  | ({ readonly type: 'ended'; readonly outcome: Outcome } & AttemptEvent)
  /** Answer to `publish`: the outputs are in their published place and the results are read. */
  | ({ readonly type: 'published' } & ListingEvent & AttemptEvent)
  /** A person has answered an approval step. */
  | ({ readonly type: 'approved'; readonly approved: boolean; readonly by: string } & GateEvent)
  /**
   * The shell has seen `Scheduler.stuck`: cells that wait for capacity which can never be freed fail. `message`
   * describes what each step waits for.
   */
  | { readonly type: 'stuck'; readonly at: number; readonly message: string }
  /** A time requested by `wake` has come. */
  | { readonly type: 'tick'; readonly at: number }
  /**
   * A person or a concurrency group cancels the run: nothing new starts, running containers are canceled, `finally`
   * still runs.
   */
  | { readonly type: 'cancelRequested'; readonly at: number; readonly by: string };

interface GateEvent {
  readonly at: number;
  /** Index into `plan.steps`. */
  readonly step: number;
  /** The cell, for a step with `each`; otherwise all cells of the step are meant. */
  readonly cell?: number;
}

interface ListingEvent {
  /** Of a step that lists the items of axes: how many this cell has listed, by axis. */
  readonly lists?: Readonly<Record<string, number>>;
  /** The places in these lists that `where` of other steps names, as `bindListed` returns them. */
  readonly bound?: readonly (readonly BoundItem[])[];
}

interface CellEvent {
  readonly at: number;
  /** Index into `plan.steps`. */
  readonly step: number;
  /** Index into the step's cells; 0 for a plain step. */
  readonly cell: number;
}

/** What every event about one attempt carries. */
export interface AttemptEvent extends CellEvent {
  /** From 1. An answer for an attempt other than the current one changes nothing. */
  readonly attempt: number;
}

/**
 * Why a submission was postponed. `quota`, `throttled`, `unavailable` and `storage` also slow down all other starts.
 */
export type PostponeReason = 'quota' | 'throttled' | 'pool' | 'volume' | 'unavailable' | 'storage' | 'placement';

/** How one attempt ended. `class` is determined before any exit-code rule applies. */
export type Outcome =
  | { readonly result: 'succeeded' }
  | {
      readonly result: 'failed';
      readonly class: FailureClass;
      readonly exitCode?: number;
      readonly message: string;
      /** The service or an expression rejected the container itself: no retry can help. */
      readonly permanent?: boolean;
      /** The attempt ended with what it ran in, as agreed: it is tried again without counting against any limit. */
      readonly isFree?: boolean;
    }
  | { readonly result: 'canceled' };
