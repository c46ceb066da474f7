import type { GridEntry } from '../grid/read-grid.ts';
import type { DetailedReport } from '../schemas/run-report.ts';
import { SHOWN_STATUSES } from '../schemas/statuses.ts';
import { describeCode } from './describe-status.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { createReportGrid, describeEntry, failedFirst } from './report-grid.ts';
import { statusClass } from './status-class.ts';

const MAX_ROWS = 200;
const MAX_COLUMNS = 40;

/** A row for each item of the axes that most steps have, a column for each step with them; nothing without axes. */
export function renderGridSection({ steps }: DetailedReport): Markup {
  const grid = createReportGrid(steps);
  if (grid === undefined) return NOTHING;
  const { axes, rows: names } = grid.index;
  const rows = failedFirst(grid, MAX_ROWS);
  const columns = grid.steps.slice(0, MAX_COLUMNS);
  const notes = [
    ...(rows.length < names.length ? [`${rows.length} of ${names.length} rows, first those with a failed cell`] : []),
    ...(columns.length < grid.steps.length ? [`${columns.length} of ${grid.steps.length} steps`] : []),
  ];
  const note = notes.length === 0 ? NOTHING : markup`<p class="soft">${notes.join('; ')}; report.json has all</p>`;
  const counts = grid.counts.slice(0, MAX_COLUMNS).map((of) => markup`<td>${describeCounts(of)}</td>`);
  const lines = rows.map((row) => {
    const entries = grid.read(row).slice(0, MAX_COLUMNS);
    return markup`<tr><td>${names[row]!}</td>${entries.map(renderEntry)}</tr>`;
  });
  return markup`<h2>Grid</h2>${note}<div class="scroll"><table><tr><th>${axes.join(', ')}</th>${columns.map((name) => markup`<th>${name}</th>`)}</tr><tr class="soft"><td>all ${names.length}</td>${counts}</tr>${lines}</table></div>`;
}

function renderEntry(entry: GridEntry | undefined): Markup {
  if (entry === undefined) return markup`<td></td>`;
  const { status, reused } = SHOWN_STATUSES[entry.code]!;
  const name = statusClass({ status, ...(reused && { reused }) });
  return markup`<td class="${name}"><span class="dot"></span>${describeEntry(entry)}</td>`;
}

function describeCounts(counts: Uint32Array): string {
  return Array.from(counts, (count, code) => (count === 0 ? '' : `${count} ${describeCode(code)}`))
    .filter((words) => words !== '')
    .join(', ');
}
