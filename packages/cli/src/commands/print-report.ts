import { readDetailedReport } from '@sluice/home';
import { detailedReportValue } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { renderBlocks } from '../json/render-value.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';

/** Prints what `sluice report` writes as `report.json`, with a line for each step and attempt. Writes no file. */
export async function printReport(
  prefix: string | undefined,
  { context, options }: { context: CommandContext; options: GlobalOptions },
): Promise<number> {
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const report = await readDetailedReport(home, found.value.run.runId);
  if (!report.ok) return reject(fromRunError(report.error, { options }), { context, options });
  for (const block of renderBlocks('report', detailedReportValue(report.value))) context.terminal.out(block);
  return EXIT_CODE.ok;
}
