import { renderDuration } from '@sluice/core';
import { readExecutors } from '@sluice/host';
import { tookMs } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { findHome } from '../home/home.ts';
import { createHostWaitReporter } from '../hosting/report-host-wait.ts';
import { renderRun } from '../json/render-run.ts';
import { listAllRuns } from '../runs/list-all-runs.ts';
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
  const { runs: found, onServer } = await listAllRuns(home, { context, options });
  const local = await readExecutors(home, found, { onWait: createHostWaitReporter(terminal, home) });
  const executors = found.map(({ runId, status }, index) =>
    onServer.has(runId) && (status === 'running' || status === 'waiting') ? 'server' : local[index]!,
  );
  if (options.json === true) {
    for (const [index, run] of found.entries()) terminal.out(renderRun(run, executors[index]!));
    return EXIT_CODE.ok;
  }
  if (found.length === 0) {
    terminal.err(`no runs in ${home}`);
    return EXIT_CODE.ok;
  }
  const rows = found.map((run, index) => [
    run.runId,
    run.pipeline,
    run.status,
    executors[index] === 'none' ? '-' : executors[index]!,
    renderTimestamp(run.createdAt).slice(0, 'YYYY-MM-DD hh:mm:ss'.length),
    run.endedAt === undefined ? '-' : renderDuration(tookMs(run, run.endedAt)),
    run.problem ?? '',
  ]);
  terminal.out(renderTable([['RUN', 'PIPELINE', 'STATUS', 'EXECUTOR', 'CREATED', 'TOOK', ''], ...rows]));
  return EXIT_CODE.ok;
}
