import type { RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { RunPhase } from '../schemas/statuses.ts';
import type { RunModel } from './run-model.ts';

/** A `RunModel` whose journal describes the run. */
export interface FollowedModel extends RunModel {
  readonly scheduler: Scheduler;
  readonly facts: RunFacts & { readonly header: NonNullable<RunFacts['header']> };
}

/** A run as its journal describes it at this moment, and whether a process executes it. */
export interface ViewedRun {
  readonly runId: string;
  /** Absolute. */
  readonly directory: string;
  /** Another object if positions that were read are void; the moves then begin again. */
  readonly model: FollowedModel;
  readonly phase: RunPhase;
}
