import type { NeedCondition } from '@sluice/core';
import { CODE } from '../model/state-code.ts';

/** How the cells of a dependency that a reader means have ended. */
export interface SourceEnd {
  /** The states in which they have ended, as bits; 0: there are none. */
  readonly seen: number;
  /** The reader means one cell; otherwise a directory of cells. */
  readonly isSingle: boolean;
  /** `continueOnError` allows as many failures as there are: a directory omits them. */
  readonly isTolerant: boolean;
  /** All of them have reached `running`. */
  readonly hasRun: boolean;
}

const SUCCEEDED = (1 << CODE.succeeded) | (1 << CODE.cached);
const FAILED = (1 << CODE.failed) | (1 << CODE.errored) | (1 << CODE.timedOut);
const CANCELED = 1 << CODE.canceled;
const SKIPPED = 1 << CODE.skipped;

/** Whether cells that ended like this have all been skipped. */
export function areSkipped(seen: number): boolean {
  return seen === SKIPPED;
}

/**
 * Whether ended cells satisfy the condition of their reader. A single cell must have succeeded; a directory omits skipped
 * cells and needs one success. `completed` accepts every end; `failed` accepts every failure, tolerated or not; a
 * canceled cell has neither succeeded nor failed.
 */
export function isSatisfied(condition: NeedCondition, { seen, isSingle, isTolerant, hasRun }: SourceEnd): boolean {
  switch (condition) {
    case 'succeeded': {
      const omitted = isSingle ? 0 : isTolerant ? SKIPPED | FAILED : SKIPPED;
      return (seen & SUCCEEDED) !== 0 && (seen & ~(SUCCEEDED | omitted)) === 0;
    }
    case 'failed':
      return (seen & FAILED) !== 0;
    case 'completed':
      return true;
    case 'skipped':
      return (seen & (FAILED | CANCELED)) === 0 && (seen & SKIPPED) !== 0;
    case 'running':
      return hasRun || (seen !== 0 && (seen & ~SUCCEEDED) === 0);
  }
}
