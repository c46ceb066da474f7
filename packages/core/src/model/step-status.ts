/**
 * What `steps.<name>.status` can be. The conditions of `needs` use the same words: docs/pipeline.md has the table of both.
 * A reused step has succeeded, and a step that timed out or was lost with its machine has failed.
 */
export const STEP_STATUSES = ['succeeded', 'failed', 'canceled', 'skipped', 'running'] as const;

export type StepStatus = (typeof STEP_STATUSES)[number];

/** What `steps.<name>.failure` can be: empty unless the status is `failed`. */
export const STEP_FAILURES = ['failed', 'timeout', 'infrastructure', ''] as const;

export type StepFailure = (typeof STEP_FAILURES)[number];

/** What `run.status` can be: `running` in expressions of steps outside `finally`. */
export const RUN_STATUSES = ['succeeded', 'failed', 'canceled', 'running'] as const;
