import { fail, type Result } from '@sluice/core';
import type { ResumeRunOptions, RunHandle, RunRefusal } from './run-options.ts';

/** Takes up a run that no living runner drives, in the order of design §3: lock, read, ask for every open ID, only then schedule. */
export async function resumeRun(options: ResumeRunOptions): Promise<Result<RunHandle, RunRefusal>> {
  return fail({ code: 'RUN_NOT_FOUND', message: `cannot resume ${options.runId}: not built yet` });
}
