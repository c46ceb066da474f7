import type { NeedCondition } from '@sluice/core';
import type { WaitReason } from './wait-reason.ts';

/** Why a cell never started, or was stopped. */
export type SkipCause =
  | { readonly kind: 'when' }
  /** `step` is the root, not one that was skipped for it, and `condition` what was asked of it in vain. */
  | { readonly kind: 'dependency'; readonly step: string; readonly condition: NeedCondition }
  | { readonly kind: 'failFast'; readonly step: string }
  | { readonly kind: 'notNeeded' }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'runTimeout' }
  | { readonly kind: 'deadline' }
  /** The run was stuck: nobody would ever have freed what the cell waited for. */
  | { readonly kind: 'stuck'; readonly wait: WaitReason };
