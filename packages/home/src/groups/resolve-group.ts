import { fail, ok, type Plan, type Result, resolvePlannedText } from '@sluice/core';
import { describeRun, type RunError } from '@sluice/run';

/** Name of the concurrency group that a run belongs to; undefined if it belongs to none. */
export function resolveGroup(
  plan: Plan,
  given: { readonly runId: string; readonly plannedTime: number },
): Result<string | undefined, RunError> {
  const { concurrency } = plan.pipeline;
  if (!concurrency) return ok(undefined);
  const run = describeRun({ ...given, plan });
  const group = resolvePlannedText(plan, concurrency.group, { run });
  return group.ok
    ? group
    : fail({ code: 'GROUP_INVALID', message: `could not evaluate the concurrency group: ${group.error}` });
}
