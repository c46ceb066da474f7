import { fail, type Result } from '@sluice/core';
import type { RunRefusal } from './run-options.ts';
import type { RunReport } from './run-report.ts';

/** The run as its journal tells it, by replay; `runId` may be shortened to an unambiguous prefix. Takes no lock and changes nothing. */
export async function readRun(home: string, runId: string): Promise<Result<RunReport, RunRefusal>> {
  return fail({ code: 'RUN_NOT_FOUND', message: `cannot read run ${runId} in ${home}: not built yet` });
}
