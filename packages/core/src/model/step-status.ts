/**
 * The values of `steps.<name>.status`. Conditions of `needs` use the same words; docs/pipeline.md has a table of both.
 * A reused step has succeeded; a step that timed out or was lost with its machine has failed.
 */
export const STEP_STATUSES = ['succeeded', 'failed', 'canceled', 'skipped', 'running'] as const;

/** The status of a step in expressions; a step with cells has the worst status of its cells. */
export type StepStatus = (typeof STEP_STATUSES)[number];

/** The values of `steps.<name>.failure`: empty unless the status is `failed`. */
export const STEP_FAILURES = ['failed', 'timeout', 'infrastructure', ''] as const;

/** The class of a step's failure in expressions; a container killed for its memory counts as `failed`. */
export type StepFailure = (typeof STEP_FAILURES)[number];

/** The values of `run.status`: always `running` in steps outside `finally`. */
export const RUN_STATUSES = ['succeeded', 'failed', 'canceled', 'running'] as const;
