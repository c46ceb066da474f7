import {
  createReportGrid,
  describeCode,
  describeEntry,
  failedFirst,
  printableData,
  type ReportGrid,
  type RunReport,
} from '@sluice/run';
import type { GlobalOptions } from '../context/command-context.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import type { Terminal } from '../context/terminal.ts';
import { widthOf } from '../text/clip-line.ts';
import { renderTable } from '../text/render-table.ts';

/** Which rows of a grid: those with a failed cell, or all. */
export type GridRows = 'failed' | 'all';

const MAX_ROWS = 20;
/** Between two columns of a table. */
const GAP = 2;

interface GridView {
  readonly terminal: Terminal;
  readonly options: GlobalOptions & { readonly rows?: GridRows };
}

/** The grid of a run with axes: a row for each item, a column for each step with it. Empty for other runs. */
export function renderGrid(report: RunReport, { terminal, options }: GridView): string {
  const grid = createReportGrid(printableData(report.steps));
  if (grid === undefined) return '';
  const rows = chooseRows(grid, options.rows);
  const header = [grid.index.axes.join(',').toUpperCase(), ...grid.steps];
  const table = [header, ...rows.map((row) => [grid.index.rows[row]!, ...grid.read(row).map(describeEntry)])];
  const fitting = countFitting(table, terminal.size().columns);
  const [head, ...lines] = renderTable(table.map((row) => row.slice(0, fitting))).split('\n');
  const notes = [
    ...describeOthers(grid, rows),
    ...(fitting < header.length ? [`steps that do not fit: ${header.slice(fitting).join(', ')}`] : []),
    ...(rows.length < grid.index.rows.length && options.rows === undefined
      ? [`show all with: ${suggestCommand(['show', report.runId, '--rows', 'all'], options)}`]
      : []),
  ];
  const body = rows.length === 0 ? '' : `${terminal.style('dim', head!)}\n${lines.join('\n')}`;
  return `${body}${notes.map((note) => terminal.style('dim', `${note}\n`)).join('')}\n`;
}

function chooseRows(grid: ReportGrid, which: GridRows | undefined): readonly number[] {
  if (which === 'failed') return grid.failed;
  return failedFirst(grid, which === 'all' ? grid.index.rows.length : MAX_ROWS);
}

/** The rows that are not shown, counted by the status that stands for each. */
function describeOthers(grid: ReportGrid, rows: readonly number[]): readonly string[] {
  const { axes, rows: names } = grid.index;
  const others = names.length - rows.length;
  if (others === 0) return [];
  const shown = new Set(rows);
  const counts = new Map<number, number>();
  for (let row = 0; row < names.length; row++) {
    if (shown.has(row)) continue;
    const code = grid.codeOf(row);
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const words = [...counts].sort(([a], [b]) => a - b).map(([code, count]) => `${count} ${describeCode(code)}`);
  const which = rows.length === 0 ? `${names.length}` : `${others} more of ${names.length}`;
  return [`${which} items of ${axes.join(', ')}: ${words.join(', ')}`];
}

/** The columns that fit on a line of the terminal; at least the name and one step. */
function countFitting(table: readonly (readonly string[])[], columns: number): number {
  let [width, count] = [0, 0];
  for (const [index] of table[0]!.entries()) {
    width += table.reduce((most, row) => Math.max(most, widthOf(row[index]!)), 0) + (index === 0 ? 0 : GAP);
    if (width > columns && count >= 2) return count;
    count += 1;
  }
  return count;
}
