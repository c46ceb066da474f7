import { fail, ok, type Result } from '@sluice/core';
import { askRunner } from '../control/ask-runner.ts';
import { findRunId } from '../record/find-run-id.ts';
import { runDirectory } from '../record/run-home.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import type { RunReport } from '../report/run-report.ts';
import { withDefaults } from '../session/run-defaults.ts';
import type { ResumeRunOptions } from '../session/run-options.ts';
import { resumeRun } from './resume-run.ts';

/**
 * Cancels a run. If a living runner executes it, that runner receives the request and `undefined` is returned at once;
 * otherwise this process resumes the run, cancels its containers and returns the report.
 */
export async function cancelRun(
  given: ResumeRunOptions & { readonly by: string },
): Promise<Result<RunReport | undefined, RunRefusal>> {
  const options = withDefaults(given);
  const { disk, home, by } = options;
  const found = await findRunId(disk, home, options.runId);
  if (!found.ok) return found;
  const answer = await askRunner(disk, runDirectory(home, found.value), { verb: 'cancel', by });
  if (answer === 'ok') return ok(undefined);
  if (answer !== undefined) return fail({ code: 'RUN_IN_USE', message: `could not cancel the run: ${answer}` });
  const resumed = await resumeRun({ ...options, runId: found.value, cancelBy: by });
  return resumed.ok ? ok(await resumed.value.finished) : resumed;
}
