import { fail, type Result } from '@sluice/core';
import type { ResumeRunOptions, RunRefusal } from './run-options.ts';
import type { RunReport } from './run-report.ts';

/**
 * Cancels a run. Where a living runner drives it, that runner is told and `undefined` comes back at once; otherwise this
 * process resumes it, cancels what runs and comes back with the report.
 */
export async function cancelRun(
  options: ResumeRunOptions & { readonly by: string },
): Promise<Result<RunReport | undefined, RunRefusal>> {
  return fail({ code: 'RUN_NOT_FOUND', message: `cannot cancel run ${options.runId}: not built yet` });
}
