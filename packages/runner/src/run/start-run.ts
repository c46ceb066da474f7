import { fail, type Result } from '@sluice/core';
import type { RunHandle, RunRefusal, StartRunOptions } from './run-options.ts';

/** Freezes the plan in the home and starts driving it. Resolves when the journal is durable; work goes on by itself. */
export async function startRun(options: StartRunOptions): Promise<Result<RunHandle, RunRefusal>> {
  return fail({ code: 'SERVICE_REFUSED', message: `cannot start ${options.plan.pipeline.name}: not built yet` });
}
