import { FAILURE_CLASSES } from './pipeline.ts';

/**
 * The values of `steps.<name>.status`. Conditions of `needs` use the same words; docs/pipeline.md has a table of both.
 * A reused step has succeeded; a step that timed out or was lost with its machine has failed.
 */
export const STEP_STATUSES = ['succeeded', 'failed', 'canceled', 'skipped', 'running'] as const;

/** The status of a step in expressions; a step with cells has the worst status of its cells. */
export type StepStatus = (typeof STEP_STATUSES)[number];

/** The values of `steps.<name>.reason`: empty unless the status is `failed`. */
export const STEP_REASONS = [...FAILURE_CLASSES, ''] as const;

/** Why a step failed, in expressions. */
export type StepReason = (typeof STEP_REASONS)[number];

/** The values of `run.status`: always `running` in steps outside `finally`. */
export const RUN_STATUSES = ['succeeded', 'failed', 'canceled', 'running'] as const;
