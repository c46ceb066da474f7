/**
 * Everything that the scheduler requests from the shell. Each command is answered by events; after a crash,
 * `Scheduler.resume` repeats the unanswered ones.
 */
export type Command =
  /**
   * Evaluate the `when` and `foreach` of a step, or the `when` of a cell of a step with `each`, and the values of its cells
   * that the plan does not know. Answer: `decided`, `skipped` or `evaluationFailed`.
   */
  | { readonly type: 'decide'; readonly step: number; readonly cell?: number }
  /** Look for a cached result. Answer: `cacheHit` or `cacheMissed`. */
  | { readonly type: 'lookUp'; readonly step: number; readonly cell: number }
  /** Make the intent durable, then create the container. Answer: `submitted`, `postponed` or `ended`. */
  | {
      readonly type: 'submit';
      readonly step: number;
      readonly cell: number;
      readonly attempt: number;
      /** Index into `retry.escalate`, -1 for the step's own instance type. */
      readonly escalationLevel: number;
    }
  /** Move the attempt's outputs to their published place and read its results. Answer: `published` or `ended`. */
  | { readonly type: 'publish'; readonly step: number; readonly cell: number; readonly attempt: number }
  /** Cancel the attempt's container. Answer: `ended`, with the outcome that the service reports. */
  | {
      readonly type: 'cancel';
      readonly step: number;
      readonly cell: number;
      readonly attempt: number;
      readonly reason: CancelReason;
    }
  /** Request an approval from a person, for a cell of a step with `each`. Answer: `approved`. */
  | { readonly type: 'askApproval'; readonly step: number; readonly cell?: number }
  /** Send `tick` at this time; replaces the previous wake-up. */
  | { readonly type: 'wake'; readonly at: number }
  /** The run has finished. Always the last command. */
  | { readonly type: 'finish'; readonly status: RunStatus };

/** Why the scheduler cancels an attempt. It decides the verdict unless the container succeeded first. */
export type CancelReason =
  | 'timeout'
  | 'queueTimeout'
  | 'pullTimeout'
  | 'notReady'
  | 'deadline'
  | 'runTimeout'
  | 'canceled'
  | 'noLongerNeeded';

/** How a run ended. A run with a tolerated failure has succeeded. */
export type RunStatus = 'succeeded' | 'failed' | 'canceled';
