import type { FailureReport, RunStatus } from '@sluice/run';

/** The JSON value that a notification sends about the end of a run; `text` is a sentence, as chat systems expect it. */
export interface Notification {
  readonly schema: 1;
  readonly type: 'notification';
  readonly text: string;
  readonly runId: string;
  readonly pipeline: string;
  readonly status: RunStatus;
  readonly message?: string;
  /** The last failures. */
  readonly failures: readonly NotifiedFailure[];
}

/** A failed attempt without its log. */
export type NotifiedFailure = Pick<FailureReport, 'step' | 'cell' | 'attempt' | 'status' | 'reason' | 'message'>;
