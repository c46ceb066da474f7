import { resolve } from 'node:path';
import { reportRun } from '@sluice/home';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunError, reject } from '../context/reject.ts';
import { findHome } from '../home/home.ts';
import { renderValue } from '../json/render-value.ts';
import { selectShownRun } from '../runs/select-shown-run.ts';
import { type JunitOptions, writeJunit } from '../runs/write-junit.ts';
import { renderTable } from '../text/render-table.ts';
import { shortPath } from '../text/short-path.ts';

/** `out` is the destination directory (default: the run's directory). */
export interface ReportOptions extends JunitOptions {
  readonly to?: string;
}

/** `sluice report`: writes an HTML page, a CSV table and JSON data about a run, which may still be in progress. */
export async function report(
  prefix: string | undefined,
  context: CommandContext,
  options: ReportOptions,
): Promise<number> {
  const { terminal, cwd } = context;
  const home = findHome(context, options);
  const found = await selectShownRun(home, { prefix, context, options });
  if (!found.ok) return reject(found.error, { context, options });
  const to = options.to === undefined ? {} : { to: resolve(cwd, options.to) };
  const made = await reportRun({ home, runId: found.value.run.runId, ...to });
  if (!made.ok) return reject(fromRunError(made.error, { options }), { context, options });
  const fault = await writeJunit(made.value.report, { context, options });
  if (fault !== undefined) return reject(fault, { context, options });
  const junit = options.junit === undefined ? undefined : resolve(cwd, options.junit);
  const files = { ...made.value.files, ...(junit !== undefined && { junit }) };
  if (options.json === true) {
    terminal.out(renderValue('reportFiles', { runId: made.value.report.runId, ...files }));
    return EXIT_CODE.ok;
  }
  const rows = [
    ['page', files.page],
    ['attempts', files.attempts],
    ['data', files.data],
    ...(files.junit === undefined ? [] : [['junit', files.junit] as const]),
  ] as const;
  terminal.out(renderTable(rows.map(([name, file]) => [name, shortPath(file, cwd)])));
  return EXIT_CODE.ok;
}
