import { readRun } from '@sluice/home';
import { runReportValue } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { renderBlocks } from '../json/render-value.ts';
import { type GridRows, renderGrid } from '../render/render-grid.ts';
import { renderReport, renderSteps } from '../render/render-report.ts';
import { renderTimeSpent } from '../render/render-time-spent.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';

/** `rows`: which rows of the grid of a run with axes. Default: the first ones, and failed ones before all. */
export interface ShowOptions extends GlobalOptions {
  readonly rows?: GridRows;
}

/** `sluice show`: prints a run as its journal records it, whether it has ended, is in progress or is suspended. */
export async function show(prefix: string | undefined, context: CommandContext, options: ShowOptions): Promise<number> {
  const { terminal } = context;
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const { runId } = found.value.run;
  const report = await readRun(home, runId);
  if (!report.ok) return reject(fromRunError(report.error, { options, runId }), { context, options });
  if (options.json === true) {
    for (const block of renderBlocks('runReport', runReportValue(report.value))) terminal.out(block);
    return EXIT_CODE.ok;
  }
  terminal.out(`${renderSteps(report.value.steps, terminal)}\n`);
  terminal.out(renderGrid(report.value, { terminal, options }));
  terminal.out(renderTimeSpent(report.value, terminal));
  terminal.out(renderReport(report.value, { terminal, cwd: context.cwd, options }));
  return EXIT_CODE.ok;
}
