import { type RunReport, readRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { findHome } from '../home/home.ts';
import { readRecordedCommand } from '../runs/recorded-command.ts';
import { selectRun } from '../runs/select-run.ts';
import { runPipeline } from './run-pipeline.ts';

/** Options of `sluice rerun`. Without `failed` and `from`, nothing is reused. */
export interface RerunOptions extends GlobalOptions {
  /** Reuse the steps that succeeded and have not changed. */
  readonly failed?: boolean;
  /** As `failed`, but rerun these steps and their dependents. */
  readonly from?: readonly string[];
  /** Parameters that replace those of the earlier run. */
  readonly param?: Readonly<Record<string, string>>;
}

/** Containers may still be working for a run that has not ended. */
const UNFINISHED: Partial<Record<RunReport['status'], (runId: string, options: GlobalOptions) => string>> = {
  active: (runId, options) => `it is in progress; cancel it first with: ${suggestCommand(['cancel', runId], options)}`,
  suspended: (runId, options) => `it has not ended; continue it with: ${suggestCommand(['resume', runId], options)}`,
};

/** `sluice rerun`: starts a run with the file, parameters and options of an earlier one; the file as it is now. */
export async function rerun(
  prefix: string | undefined,
  context: CommandContext,
  options: RerunOptions,
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectRun(home, { prefix, options });
  if (!found.ok) return refuse(found.error, { context, options });
  const { runId } = found.value;
  const report = await readRun(home, runId);
  if (!report.ok) return refuse(fromRunRefusal(report.error, { options, runId }), { context, options });
  const { status, rerun: recorded } = report.value;
  const fault = UNFINISHED[status]?.(runId, options);
  if (fault !== undefined || recorded === undefined) {
    const message = `could not rerun run ${runId}: ${fault ?? 'a program or a server started it, not a command'}`;
    return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  }
  const { failed = false, from = [], param, ...shared } = options;
  const { file, options: earlier } = readRecordedCommand(recorded);
  return runPipeline(file, context, {
    ...earlier,
    ...shared,
    param: { ...earlier.param, ...param },
    ...((failed || from.length > 0) && { reuseFrom: runId, force: from }),
  });
}
