import { RESULTS_MOUNT } from '../data/create-mounts.ts';
import type { Attempt } from '../session/attempt.ts';
import { traceParentOf } from '../trace/trace-ids.ts';

/**
 * The variables by which a container knows what it is. They are in no fingerprint, nor in the digest of the
 * container: they differ for each attempt of the same work.
 */
export function describeAttempt({ name }: Attempt, options: { readonly hasResults: boolean }): Record<string, string> {
  return {
    SLUICE_RUN_ID: name.runId,
    SLUICE_STEP: name.step,
    SLUICE_CELL: name.cell,
    SLUICE_ATTEMPT: String(name.attempt),
    ...(options.hasResults && { SLUICE_RESULTS: RESULTS_MOUNT }),
  };
}

/** The variable by which programs add their own spans to that of the attempt. In no fingerprint, as the others. */
export function describeTrace({ name }: Attempt): Record<string, string> {
  return { TRACEPARENT: traceParentOf(name) };
}
