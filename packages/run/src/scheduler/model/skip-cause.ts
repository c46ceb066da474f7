import type { NeedCondition } from '@sluice/core';
import type { WaitReason } from './wait-reason.ts';

/** Why a cell never started, or was stopped. */
export type SkipCause =
  | { readonly kind: 'when' }
  /** `step` is the root cause, not a step that was skipped because of it; `condition` is what it did not satisfy. */
  | {
      readonly kind: 'dependency';
      readonly step: string;
      /** Index of the cell of the root cause, if one in particular is it. */
      readonly cell?: number;
      readonly condition: NeedCondition;
      /** The failed cells of a directory that has several. */
      readonly failedCells?: readonly number[];
    }
  /** The step has no cell that this cell could read. */
  | { readonly kind: 'noItem'; readonly step: string }
  | { readonly kind: 'failFast'; readonly step: string }
  /** More cells of its step have failed than `continueOnError` tolerates. */
  | { readonly kind: 'tolerance'; readonly failed: number; readonly tolerated: number }
  | { readonly kind: 'notNeeded' }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'runTimeout' }
  | { readonly kind: 'deadline' }
  /** The run was stuck: the capacity that the cell waited for could never be freed. */
  | { readonly kind: 'stuck'; readonly wait: WaitReason };
