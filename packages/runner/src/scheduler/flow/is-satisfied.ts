import type { NeedCondition } from '@sluice/core';
import type { CellState } from '../model/cell-state.ts';

/** How a step ended, as its dependents see it. */
export interface StepEnd {
  readonly state: CellState;
  /** Skipped by its own `when`, not for another step's sake. */
  readonly byWhen: boolean;
  /** `continueOnError`: a failure is recorded, and dependents go on. */
  readonly tolerated: boolean;
  /** It had reached `running` before. */
  readonly ran: boolean;
}

/**
 * Whether a dependency that is over gives its dependent what it asked for. `completed` takes every end; `failed` every
 * failure, tolerated or not; a cancelled step has neither succeeded nor failed.
 */
export function isSatisfied(condition: NeedCondition, end: StepEnd): boolean {
  const { state } = end;
  const failed = state === 'failed' || state === 'errored' || state === 'timedOut';
  switch (condition) {
    case 'succeeded':
      return (
        state === 'succeeded' || state === 'cached' || (state === 'skipped' && end.byWhen) || (failed && end.tolerated)
      );
    case 'failed':
      return failed;
    case 'completed':
      return true;
    case 'skipped':
      return state === 'skipped';
    case 'running':
      return end.ran || state === 'succeeded' || state === 'cached';
  }
}
