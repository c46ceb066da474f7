import { renderDuration } from '@sluice/core';
import { summarizeCounts } from '@sluice/run';
import { useMemo } from 'preact/hooks';
import type { PlanSteps } from '../layout/plan-shape.ts';
import type { CellNames } from '../live/cell-names.ts';
import type { ChangeHistory } from '../model/change-history.ts';
import { roundTicks } from '../model/round-ticks.ts';
import { countsOf, type RunModel } from '../model/run-model.ts';
import { findCellBars, findStepBar, type TimelineBar } from '../model/timeline-bars.ts';
import { StatusMark } from './status-mark.tsx';
import { VirtualList } from './virtual-list.tsx';

/** A step, or one of its cells. */
export interface Selection {
  readonly step: number;
  readonly cell?: number | undefined;
}

/** What the timeline shows, and what it reports. */
export interface TimelineProps {
  readonly rows: readonly Selection[];
  readonly steps: PlanSteps;
  readonly model: RunModel;
  readonly history: ChangeHistory | undefined;
  readonly names: CellNames;
  readonly startedAt: number;
  /** The present, or the time that the slider shows. */
  readonly now: number;
  /** Of the axis: the present, or the end of the run. */
  readonly end: number;
  readonly selected: Selection | undefined;
  readonly expanded: ReadonlyMap<number, number>;
  readonly critical: ReadonlySet<number>;
  readonly onSelect: (selection: Selection) => void;
  readonly onOpen: (selection: Selection) => void;
  readonly onToggle: (step: number) => void;
}

const ROW_HEIGHT = 28;

/** All steps as a tree, each with its bar on the time axis. */
export function Timeline(props: TimelineProps) {
  const { rows, selected, startedAt, end } = props;
  const span = Math.max(1, end - startedAt);
  const place = useMemo(() => rows.findIndex((row) => isSame(row, selected)), [rows, selected?.step, selected?.cell]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (handleKey(event.key, props, place)) event.preventDefault();
  };
  return (
    <div class="timeline">
      <div class="axis" aria-hidden="true">
        <span class="row-name" />
        <span class="track">
          {roundTicks(span).map((tick) => (
            <span key={tick} style={{ left: `${(100 * tick) / span}%` }}>
              {renderDuration(tick)}
            </span>
          ))}
        </span>
      </div>
      <VirtualList
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        shown={place}
        attributes={{
          class: 'rows',
          role: 'tree',
          tabIndex: 0,
          'aria-label': 'Steps',
          'aria-activedescendant': place === -1 ? '' : rowId(rows[place]!),
          onKeyDown,
        }}
        renderRow={(index) => <TimelineRow {...props} row={rows[index]!} index={index} span={span} />}
      />
      {rows.length === 0 && <p class="empty">No step matches.</p>}
    </div>
  );
}

function TimelineRow(props: TimelineProps & { row: Selection; index: number; span: number }) {
  const { row, steps, model, selected, expanded, critical, history, startedAt, now, span, index } = props;
  const { step, cell } = row;
  const cells = model.cells[step]!;
  const counts = countsOf(model, step);
  const code = cell === undefined ? summarizeCounts(counts) : cells[cell]!;
  const bars = history === undefined ? [] : barsOf(history, { row, cells: cells.length, now, code, counts });
  const isStep = cell === undefined;
  const level = isStep ? 1 : 2;
  const name = isStep ? steps[step]!.step : props.names.nameOf(step, cell);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names the active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      id={rowId(row)}
      class={`row level-${level} ${critical.has(step) ? 'critical' : ''}`}
      role="treeitem"
      aria-level={level}
      aria-setsize={props.rows.length}
      aria-posinset={index + 1}
      aria-selected={isSame(row, selected)}
      aria-expanded={isStep && cells.length > 1 ? expanded.has(step) : undefined}
      onClick={() => props.onSelect(row)}
      onDblClick={() => props.onOpen(row)}
    >
      <span class="row-name" title={name}>
        <StatusMark code={code} isShort />
        <span class="name">{name}</span>
        {isStep && cells.length > 1 && <span class="soft"> ×{cells.length.toLocaleString('en')}</span>}
      </span>
      <span class="track">
        {bars.map((bar, place) => (
          <Bar key={place} bar={bar} startedAt={startedAt} span={span} now={now} />
        ))}
      </span>
    </div>
  );
}

function Bar({ bar, startedAt, span, now }: { bar: TimelineBar; startedAt: number; span: number; now: number }) {
  if (bar.from > now) return null;
  const to = Math.min(bar.to, now);
  const words = `${bar.kind === 'ran' ? bar.label : bar.kind === 'queue' ? 'queued at the service' : 'waiting'}`;
  return (
    <i
      class={`bar ${bar.kind} ${bar.shares === undefined ? `tone-${bar.tone}` : 'shared'}`}
      title={`${words}, ${renderDuration(to - bar.from)}`}
      style={{ left: `${(100 * (bar.from - startedAt)) / span}%`, width: `${(100 * (to - bar.from)) / span}%` }}
    >
      {bar.shares?.map(({ tone, count }, place) => (
        <b key={place} class={`tone-${tone}`} style={{ flexGrow: count }} />
      ))}
    </i>
  );
}

function barsOf(
  history: ChangeHistory,
  { row, cells, ...step }: { row: Selection; cells: number; now: number; code: number; counts: ArrayLike<number> },
): TimelineBar[] {
  const { now } = step;
  if (row.cell !== undefined) return findCellBars(history, { step: row.step, cell: row.cell }, now);
  return cells <= 1 ? findCellBars(history, { step: row.step, cell: 0 }, now) : findStepBar(history, row.step, step);
}

/** Whether the key means something in a tree. */
function handleKey(key: string, props: TimelineProps, place: number): boolean {
  const { rows, expanded, model } = props;
  const row = rows[place];
  const select = (index: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (next) props.onSelect(next);
  };
  const isParent = row !== undefined && row.cell === undefined && model.cells[row.step]!.length > 1;
  if (key === 'ArrowDown') select(place + 1);
  else if (key === 'ArrowUp') select(place - 1);
  else if (key === 'Home') select(0);
  else if (key === 'End') select(rows.length - 1);
  else if (row === undefined) return false;
  else if (key === 'Enter') props.onOpen(row);
  else if (isParent && (key === ' ' || expanded.has(row.step) === (key === 'ArrowLeft'))) props.onToggle(row.step);
  else if (key === 'ArrowLeft' && row.cell !== undefined) props.onSelect({ step: row.step });
  else return false;
  return true;
}

function isSame(row: Selection, selected: Selection | undefined): boolean {
  return row.step === selected?.step && row.cell === selected.cell;
}

function rowId({ step, cell }: Selection): string {
  return `row-${step}${cell === undefined ? '' : `-${cell}`}`;
}
