import { fail, type Result } from '@sluice/core';
import type { RunRefusal } from './run-options.ts';

/** Gives the answer of a person to the living runner of a run. */
export async function approveRun(
  home: string,
  answer: { readonly runId: string; readonly step: string; readonly approved: boolean; readonly by: string },
): Promise<Result<void, RunRefusal>> {
  return fail({
    code: 'RUN_NOT_FOUND',
    message: `cannot approve ${answer.step} of run ${answer.runId} in ${home}: not built yet`,
  });
}
