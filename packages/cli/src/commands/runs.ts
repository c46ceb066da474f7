import { renderDuration } from '@sluice/core';
import { listRuns } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { findHome } from '../home/home.ts';
import { renderRun } from '../json/render-run.ts';
import { describeState } from '../progress/render-state.ts';
import { renderTable } from '../text/render-table.ts';
import { renderTimestamp } from '../text/render-timestamp.ts';

/** `limit` is the number of runs to list (default: all). */
export interface RunsOptions extends GlobalOptions {
  readonly limit?: number;
}

/** `sluice runs`: one line per run, newest first. */
export async function runs(context: CommandContext, options: RunsOptions): Promise<number> {
  const { terminal } = context;
  const home = findHome(context, options);
  const found = (await listRuns(home)).slice(0, options.limit);
  if (options.json === true) {
    for (const run of found) terminal.out(renderRun(run));
    return EXIT_CODE.ok;
  }
  if (found.length === 0) {
    terminal.err(`no runs in ${home}\n`);
    return EXIT_CODE.ok;
  }
  const rows = found.map((run) => [
    run.runId,
    run.pipeline,
    describeState(run.status),
    renderTimestamp(run.startedAt).slice(0, 'YYYY-MM-DD hh:mm:ss'.length),
    run.endedAt === undefined ? '-' : renderDuration(run.endedAt - run.startedAt),
    run.problem ?? '',
  ]);
  terminal.out(renderTable([['RUN', 'PIPELINE', 'STATUS', 'STARTED', 'TOOK', ''], ...rows]));
  return EXIT_CODE.ok;
}
