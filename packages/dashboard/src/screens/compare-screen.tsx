import type { RunDetails, RunList } from '@sluice/host';
import { useState } from 'preact/hooks';
import { linkTo, type Route } from '../live/route.ts';
import { useReply } from '../live/use-reply.ts';
import { useRuns } from '../live/use-runs.ts';
import { beganAt } from '../model/began-at.ts';
import { type ComparedRow, compareRuns, linesOf } from '../model/compare-runs.ts';
import { sortRows, tableOfRuns } from '../model/comparison-table.ts';
import { renderCsv } from '../model/render-csv.ts';
import { downloadText } from '../parts/download-text.ts';
import { Note } from '../parts/note.tsx';
import { SizedHead } from '../parts/sized-head.tsx';
import { SortButton } from '../parts/sort-button.tsx';
import { RunStatus } from '../parts/status-mark.tsx';
import { timeWords } from '../parts/time-words.ts';
import { CompareCells } from './compare-cells.tsx';
import { ComparePair } from './compare-pair.tsx';
import { PlotPanel } from './plot-panel.tsx';

const MAX_RUNS = 20;

/** Runs, or the cells of a step of one run: what differs between them. */
export function CompareScreen({ route }: { route: Route }) {
  const [runId, step] = [route.query.get('run'), route.query.get('step')];
  if (runId && step) return <CompareCells runId={runId} step={step} query={route.query} />;
  return <CompareRuns route={route} />;
}

/** Two to twenty runs as the columns of a table. */
function CompareRuns({ route }: { route: Route }) {
  const ids = (route.query.get('run') ?? '').split(',').filter((id) => id !== '');
  const { runs, error } = useRuns(ids);
  const [isAll, setAll] = useState(false);
  const sorted = sortRuns(runs, route.query.get('sort') ?? '');
  // The marks of the columns show the status.
  const rows = compareRuns(sorted).filter(({ name, isDifferent }) => (isAll || isDifferent) && name !== 'status');
  return (
    <>
      <h1>Compare runs</h1>
      <RunChoice ids={ids} runs={runs} />
      {error !== undefined && <Note tone="bad">{error}</Note>}
      <PlotPanel table={tableOfRuns(runs)} query={route.query} name="run" />
      {runs.length > 1 && <ComparePair runs={runs} query={route.query} />}
      {runs.length > 0 && (
        <section class="panel">
          <div class="panel-head">
            <label>
              <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} />
              Also what is equal
            </label>
            <button
              type="button"
              onClick={() =>
                downloadText(
                  'runs.csv',
                  renderCsv(
                    linesOf(
                      rows,
                      sorted.map(({ runId }) => runId),
                    ),
                  ),
                )
              }
            >
              Export CSV
            </button>
          </div>
          <div class="scroll">
            <ComparisonTable runs={sorted} rows={rows} sort={route.query.get('sort') ?? ''} />
          </div>
        </section>
      )}
    </>
  );
}

/** The runs in the order of one of their values. */
function sortRuns(runs: readonly RunDetails[], sort: string): readonly RunDetails[] {
  const [name = '', direction] = sort.split('!');
  const table = tableOfRuns(runs);
  const column = table.columns.indexOf(name);
  if (column < 0) return runs;
  return sortRows(table, column, direction === 'down').map(({ key }) => runs.find(({ runId }) => runId === key)!);
}

/** The runs of the same pipeline, to be added to or removed from the comparison. */
function RunChoice({ ids, runs }: { ids: readonly string[]; runs: readonly RunDetails[] }) {
  const version = runs.map(({ status }) => status).join();
  const { value } = useReply<RunList>('runs', { pipeline: runs[0]?.pipeline, pageSize: 50 }, version);
  // It stays open while runs are chosen.
  const [isOpen] = useState(ids.length < 2);
  const choose = (id: string, isChosen: boolean) => {
    const chosen = isChosen ? [...ids, id].slice(-MAX_RUNS) : ids.filter((one) => one !== id);
    location.hash = linkTo(['compare'], { run: chosen.join(',') });
  };
  return (
    <details class="panel" open={isOpen}>
      <summary>Choose runs ({ids.length} chosen)</summary>
      <ul class="choices">
        {value?.runs.map((run) => (
          <li key={run.runId}>
            <label>
              <input
                type="checkbox"
                checked={ids.includes(run.runId)}
                onChange={(event) => choose(run.runId, event.currentTarget.checked)}
              />
              <RunStatus status={run.status} isShort /> {run.pipeline} <span class="soft id">{run.runId}</span>{' '}
              <span class="soft">{timeWords(beganAt(run))}</span>
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface ComparisonProps {
  readonly runs: readonly RunDetails[];
  readonly rows: readonly ComparedRow[];
  readonly sort: string;
}

function ComparisonTable({ runs, rows, sort }: ComparisonProps) {
  return (
    <table class="comparison">
      <thead>
        <tr>
          <SizedHead name="compared-runs" label="Width of the names">
            Value
          </SizedHead>
          {runs.map((run) => (
            <th key={run.runId}>
              <RunStatus status={run.status} isShort /> <a href={linkTo(['runs', run.runId])}>{run.runId}</a>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name} class={row.isDifferent ? 'different' : ''}>
            <th scope="row">
              <SortButton name={row.name} sort={sort} />
            </th>
            {row.values.map((text, column) => (
              <td key={runs[column]!.runId}>{text}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
