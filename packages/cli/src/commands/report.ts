import { resolve } from 'node:path';
import { reportRun } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { findHome } from '../home/home.ts';
import { selectRun } from '../runs/select-run.ts';
import { renderTable } from '../text/render-table.ts';
import { shortPath } from '../text/short-path.ts';

/** `out` is the destination directory (default: the run's directory). */
export interface ReportOptions extends GlobalOptions {
  readonly out?: string;
}

/** `sluice report`: writes an HTML page, a CSV table and JSON data about a run, which may still be in progress. */
export async function report(
  prefix: string | undefined,
  context: CommandContext,
  options: ReportOptions,
): Promise<number> {
  const { terminal, cwd } = context;
  const home = findHome(context, options);
  const found = await selectRun(home, { prefix, options });
  if (!found.ok) return refuse(found.error, { context, options });
  const to = options.out === undefined ? {} : { to: resolve(cwd, options.out) };
  const made = await reportRun({ home, runId: found.value.runId, ...to });
  if (!made.ok) return refuse(fromRunRefusal(made.error, { options }), { context, options });
  const { files } = made.value;
  if (options.json === true) {
    terminal.out(`${JSON.stringify({ type: 'reported', runId: made.value.report.runId, ...files })}\n`);
    return EXIT_CODE.ok;
  }
  const rows = [
    ['page', files.page],
    ['attempts', files.attempts],
    ['data', files.data],
  ] as const;
  terminal.out(renderTable(rows.map(([name, file]) => [name, shortPath(file, cwd)])));
  return EXIT_CODE.ok;
}
