import type { CellEntry } from '@sluice/host';
import { linkTo } from '../live/route.ts';
import { useCells } from '../live/use-cells.ts';
import { useRuns } from '../live/use-runs.ts';
import { type ComparisonTable, numericColumns, sortRows, tableOfCells } from '../model/comparison-table.ts';
import { renderCount } from '../model/render-count.ts';
import { renderCsv } from '../model/render-csv.ts';
import { codeOf } from '../model/statuses.ts';
import { downloadText } from '../parts/download-text.ts';
import { Note } from '../parts/note.tsx';
import { SizedHead } from '../parts/sized-head.tsx';
import { SortButton, sortDirection } from '../parts/sort-button.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import { PlotPanel } from './plot-panel.tsx';

const MAX_ROWS = 500;

/** The cells of a step as rows: what they were given, what they resulted in, and how long they ran. */
export function CompareCells({ runId, step, query }: { runId: string; step: string; query: URLSearchParams }) {
  const { runs, error: runError } = useRuns([runId]);
  // Of a run that has ended, they are loaded once.
  const version = runs[0]?.endedAt === undefined ? runs[0]?.position : undefined;
  const { cells, total, error = runError } = useCells(runId, step, { version });
  const table = tableOfCells(cells);
  const sorted = { ...table, rows: sortOf(table, query) };
  const lines = [
    ['cell', 'status', ...table.columns],
    ...sorted.rows.map(({ label, status, values }) => [label, status, ...values]),
  ];
  return (
    <>
      <nav class="trail" aria-label="Path">
        <a class="id" href={linkTo(['runs', runId])}>
          {runId}
        </a>
        <a href={linkTo(['runs', runId, 'steps', step])}>{step}</a>
        <span aria-current="page">Compare cells</span>
      </nav>
      <h1>Compare the cells of {step}</h1>
      {error !== undefined && <Note tone="bad">{error}</Note>}
      {cells.length < total && (
        <Note tone="warn">{`The first ${renderCount(cells.length)} of ${renderCount(total)} cells.`}</Note>
      )}
      <PlotPanel table={table} query={query} name="cell" />
      {cells.length > 0 && (
        <section class="panel" aria-labelledby="cells">
          <div class="panel-head">
            <h2 id="cells">Cells ({renderCount(cells.length)})</h2>
            <button type="button" onClick={() => downloadText(`${step}.csv`, renderCsv(lines))}>
              Export CSV
            </button>
          </div>
          <div class="scroll">
            <CellTable
              table={sorted}
              query={query}
              linkOf={(cell) => linkTo(['runs', runId, 'steps', step, 'cells', cell])}
            />
          </div>
          {cells.length > MAX_ROWS && <p class="soft">The first {MAX_ROWS} rows. The CSV file has all.</p>}
        </section>
      )}
    </>
  );
}

function sortOf(table: ComparisonTable, query: URLSearchParams) {
  const [column = '', direction] = (query.get('sort') ?? '').split('!');
  const index = table.columns.indexOf(column);
  return index < 0 ? table.rows : sortRows(table, index, direction === 'down');
}

interface CellTableProps {
  readonly table: ComparisonTable;
  readonly query: URLSearchParams;
  readonly linkOf: (key: string) => string;
}

function CellTable({ table, query, linkOf }: CellTableProps) {
  const sort = query.get('sort') ?? '';
  const numeric = new Set(numericColumns(table));
  return (
    <table>
      <thead>
        <tr>
          <SizedHead name="compared-cells" label="Width of the names">
            Cell
          </SizedHead>
          {table.columns.map((column, index) => (
            <th
              key={column}
              scope="col"
              class={numeric.has(index) ? 'number' : ''}
              aria-sort={sortDirection(column, sort)}
            >
              <SortButton name={column} sort={sort} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.slice(0, MAX_ROWS).map(({ key, label, status, values }) => (
          <tr key={key}>
            <td class="named">
              <StatusMark code={codeOf(status as CellEntry['status'], undefined)} isShort />{' '}
              <a class="name" title={label} href={linkOf(key)}>
                {label}
              </a>
            </td>
            {values.map((value, index) => (
              <td key={table.columns[index]} class={typeof value === 'number' ? 'number' : ''}>
                {value ?? '–'}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
