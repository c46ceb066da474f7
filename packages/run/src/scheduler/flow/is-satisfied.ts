import type { NeedCondition } from '@sluice/core';
import type { CellState } from '../model/cell-state.ts';

/** How a step ended, as its dependents see it. */
export interface StepEnd {
  readonly state: CellState;
  /** Skipped by its own `when`, not because of another step. */
  readonly byWhen: boolean;
  /** `continueOnError`: a failure is recorded, and dependents continue. */
  readonly tolerated: boolean;
  /** It has reached `running`. */
  readonly ran: boolean;
}

/**
 * Whether an ended dependency satisfies the condition of its dependent. `completed` accepts every end; `failed` accepts
 * every failure, tolerated or not; a canceled step has neither succeeded nor failed.
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
