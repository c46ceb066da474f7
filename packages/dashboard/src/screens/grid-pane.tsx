import type { GridPage, RunDetails } from '@sluice/host';
import { useEffect, useMemo } from 'preact/hooks';
import { type GridRow, GridRows } from '../live/grid-rows.ts';
import type { LiveRun } from '../live/open-run.ts';
import { replaceQuery } from '../live/route.ts';
import { useStore } from '../live/use-store.ts';
import { useThrottled } from '../live/use-throttled.ts';
import { renderCount } from '../model/render-count.ts';
import { BAR_ORDER, codeOf, STATUSES } from '../model/statuses.ts';
import { ColumnHandle, useColumnWidth } from '../parts/column-handle.tsx';
import { CountBar, countsByCode, countWords } from '../parts/count-bar.tsx';
import { Note } from '../parts/note.tsx';
import { QueryCheckbox } from '../parts/query-checkbox.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';
import { RowChain } from './row-chain.tsx';

const ROW_HEIGHT = 30;
const REFRESH_MS = 1_000;

interface GridProps {
  readonly run: LiveRun;
  readonly details: RunDetails;
  readonly query: URLSearchParams;
}

/** A row for each item of the axes, a column for each step with them; next to it the cells of the selected row. */
export function GridPane({ run, details, query }: GridProps) {
  const axes = query.get('axes') ?? undefined;
  const isFailed = query.get('rows') === 'failed';
  const version = useThrottled(run.model?.version ?? 0, REFRESH_MS);
  const rows = useGridRows(run.runId, { axes, isFailed, version });
  const selected = query.get('row');
  const { head, error } = rows;
  if (head === undefined)
    return error === undefined ? <p class="soft">Loading the grid…</p> : <Note tone="bad">{error}</Note>;
  return (
    <>
      <GridBar head={head} isFailed={isFailed} />
      {error !== undefined && <Note tone="bad">{error}</Note>}
      <div class="workspace">
        <div class={`panes ${selected === null ? 'shows-rows' : 'shows-row'}`}>
          <GridTable head={head} rows={rows} selected={selected} />
          {selected !== null && (
            <RowChain key={selected} {...{ run, details, row: selected, axes: head.axes.join(), version }} />
          )}
        </div>
      </div>
    </>
  );
}

function useGridRows(
  runId: string,
  { axes, isFailed, version }: { axes: string | undefined; isFailed: boolean; version: number },
): GridRows {
  const rows = useMemo(
    () => new GridRows(`runs/${encodeURIComponent(runId)}/grid`, { axes, failed: isFailed }),
    [runId, axes, isFailed],
  );
  useStore(rows);
  useEffect(() => () => rows.close(), [rows]);
  useEffect(() => {
    if (rows.head !== undefined) rows.refresh();
  }, [version]);
  return rows;
}

type Head = Omit<GridPage, 'rows'>;

function GridBar({ head, isFailed }: { head: Head; isFailed: boolean }) {
  const ofColumns = head.columns.map(({ counts }) => countsByCode(counts));
  return (
    <div class="toolbar">
      {head.choices.length > 1 && (
        <label>
          Rows{' '}
          <select
            value={head.axes.join()}
            onChange={(event) => replaceQuery({ axes: event.currentTarget.value, row: undefined })}
          >
            {head.choices.map((choice) => (
              <option key={choice.join()} value={choice.join()}>
                {choice.join(', ')}
              </option>
            ))}
          </select>
        </label>
      )}
      <QueryCheckbox label="Only failed" name="rows" value="failed" isChecked={isFailed} />
      <span class="soft" role="status">
        {`${renderCount(head.rowCount)} rows, ${renderCount(head.failedCount)} with a failed cell`}
      </span>
      <ul class="legend" aria-label="Colors">
        {BAR_ORDER.filter((code) => ofColumns.some((counts) => counts[code]! > 0)).map((code) => (
          <li key={code} class={`tone-${STATUSES[code]!.tone}`}>
            <span class="mark" aria-hidden="true">
              {STATUSES[code]!.mark}
            </span>
            {STATUSES[code]!.label}
          </li>
        ))}
      </ul>
    </div>
  );
}

function GridTable({ head, rows, selected }: { head: Head; rows: GridRows; selected: string | null }) {
  const column = useColumnWidth('grid');
  return (
    <div class="grid" style={{ '--name-width': column.styleWidth }}>
      <div
        class="grid-inner"
        style={{ minWidth: `calc(${head.columns.length} * var(--grid-column) + var(--name-width))` }}
      >
        <div class="grid-row grid-head">
          <span class="grid-name">
            {head.axes.join(', ')}
            <ColumnHandle column={column} label="Width of the names" />
          </span>
          {head.columns.map(({ step, counts }) => (
            <span key={step} class="grid-entry" title={`${step}: ${countWords(countsByCode(counts))}`}>
              <span class="name">{step}</span>
              <CountBar counts={countsByCode(counts)} />
            </span>
          ))}
        </div>
        <VirtualList
          count={head.total}
          rowHeight={ROW_HEIGHT}
          attributes={{ class: 'rows', role: 'list', tabIndex: 0, 'aria-label': 'Rows of the grid' }}
          renderRow={(index) => <GridLine row={rows.rowAt(index)} columns={head.columns} selected={selected} />}
        />
        {head.total === 0 && <p class="empty">No row has a failed cell.</p>}
      </div>
    </div>
  );
}

interface LineProps {
  readonly row: GridRow | undefined;
  readonly columns: Head['columns'];
  readonly selected: string | null;
}

function GridLine({ row, columns, selected }: LineProps) {
  if (row === undefined) return <div class="grid-row soft">…</div>;
  return (
    <li>
      <button
        type="button"
        class="grid-row"
        aria-pressed={row.row === selected}
        onClick={() => replaceQuery({ row: row.row === selected ? undefined : row.row })}
      >
        <span class="grid-name" title={row.row}>
          {row.row}
        </span>
        {row.entries.map((entry, place) => (
          <Entry key={place} step={columns[place]?.step ?? ''} entry={entry} />
        ))}
      </button>
    </li>
  );
}

function Entry({ step, entry }: { step: string; entry: GridRow['entries'][number] }) {
  if (entry === null) return <span class="grid-entry" />;
  const { label, mark, tone } = STATUSES[codeOf(entry.status, entry.reused)]!;
  const many = entry.counts === undefined ? '' : ` ${entry.counts[entry.status] ?? 0}/${entry.cellCount}`;
  return (
    <span class={`grid-entry tile tone-${tone}`} title={`${step}: ${label}${many}`}>
      <span class="mark" aria-hidden="true">
        {mark}
      </span>
      <span class="words">{label}</span>
      {many}
    </span>
  );
}
