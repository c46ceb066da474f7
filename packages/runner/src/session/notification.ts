import type { FailureGroup, RunStatus } from '@sluice/run';

/** The JSON value that a notification sends about the end of a run; `text` is a sentence, as chat systems expect it. */
export interface Notification {
  readonly schema: 1;
  readonly type: 'notification';
  readonly text: string;
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunStatus;
  readonly message?: string;
  /** Why cells have failed in the end. */
  readonly failures: readonly NotifiedFailure[];
}

/** Cells that failed for the same reason: how many, and the first of them. */
export type NotifiedFailure = Pick<
  FailureGroup,
  'step' | 'cell' | 'cellCount' | 'attempt' | 'status' | 'reason' | 'message'
>;
