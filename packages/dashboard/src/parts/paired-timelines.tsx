import type { ChangeHistory } from '../model/change-history.ts';
import type { CriticalMarks } from '../model/critical-marks.ts';
import type { Gap } from '../model/find-gaps.ts';
import type { PairedRow } from '../model/paired-rows.ts';
import { renderCount } from '../model/render-count.ts';
import { type RunModel, stepCodes } from '../model/run-model.ts';
import { STATUSES } from '../model/statuses.ts';
import { findRetries } from '../model/timeline-bars.ts';
import { useColumnWidth } from './column-handle.tsx';
import { StatusMark } from './status-mark.tsx';
import { TimeAxis } from './time-axis.tsx';
import { Track } from './timeline-row.tsx';
import { VirtualList } from './virtual-list.tsx';

const ROW_HEIGHT = 52;

/** One of two runs as its timeline is shown. */
export interface PairedRun {
  /** Its name on this screen. */
  readonly letter: 'A' | 'B';
  readonly runId: string;
  readonly model: RunModel;
  readonly history: ChangeHistory | undefined;
  readonly gaps: readonly Gap[];
  readonly startedAt: number;
  /** The time that is shown. */
  readonly now: number;
  readonly critical: CriticalMarks;
}

/** What the buttons of a row do. */
export interface RowFolds {
  /** Shows or hides the cells of the step, or unfolds the group. */
  readonly own?: { readonly isOpen: boolean; readonly words: string; readonly toggle: () => void };
  /** The unfolded group whose first row this is. */
  readonly group?: { readonly name: string; readonly fold: () => void };
}

/** A step, or one of its cells by its index. */
export interface NamedPlace {
  readonly step: string;
  readonly cell: number | undefined;
}

interface PairedProps {
  readonly rows: readonly PairedRow[];
  readonly runs: readonly [PairedRun, PairedRun];
  /** Of the axis, in milliseconds. */
  readonly span: number;
  readonly foldsOf: (row: PairedRow) => RowFolds;
  readonly linkOf: (runId: string, place: NamedPlace) => string;
}

/** The steps of two runs as rows, each with the bars of both runs on one axis that counts from their starts. */
export function PairedTimelines({ rows, ...props }: PairedProps) {
  const column = useColumnWidth('timeline');
  return (
    <div class="timeline paired" style={{ '--name-width': column.styleWidth }}>
      <TimeAxis column={column} span={props.span} />
      <VirtualList
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        attributes={{ class: 'rows', role: 'list', tabIndex: 0, 'aria-label': 'Steps of both runs' }}
        renderRow={(index) => <Row row={rows[index]!} {...props} />}
      />
    </div>
  );
}

function Row({ row, runs, span, foldsOf, linkOf }: Omit<PairedProps, 'rows'> & { row: PairedRow }) {
  const { step, cell, places } = row;
  const codes = runs.map((run, index) => codeOfRow(run, places[index]));
  const only = runs.find((_, index) => places[1 - index] === undefined);
  const cells = cell === undefined ? Math.max(...runs.map((run, index) => cellsOf(run, places[index]))) : 1;
  const isDifferent = codes[0] !== codes[1];
  const name = cell ?? step;
  const { own, group } = foldsOf(row);
  return (
    <li class={`row level-${cell === undefined ? 1 : 2} ${isDifferent ? 'different' : ''}`}>
      <span class="row-name" title={name}>
        <FoldButton fold={own} />
        <span class="name">{name}</span>
        {cells > 1 && <span class="soft"> ×{renderCount(cells)}</span>}
        {group !== undefined && <GroupButton {...group} />}
        {only !== undefined && <span class="label">only {only.letter}</span>}
      </span>
      <span class="pair">
        {runs.map((run, index) => (
          <Line key={run.letter} {...{ run, span, row, linkOf }} place={places[index]} code={codes[index]} />
        ))}
      </span>
    </li>
  );
}

function FoldButton({ fold }: { fold: RowFolds['own'] }) {
  if (fold === undefined) return null;
  const { isOpen, words, toggle } = fold;
  return (
    <button type="button" class="fold-row" aria-expanded={isOpen} aria-label={words} title={words} onClick={toggle}>
      {isOpen ? '▾' : '▸'}
    </button>
  );
}

function GroupButton({ name, fold }: NonNullable<RowFolds['group']>) {
  return (
    <button type="button" class="label" aria-label={`Fold the group ${name}`} onClick={fold}>
      ▾ {name}
    </button>
  );
}

interface LineProps extends Pick<PairedProps, 'span' | 'linkOf'> {
  readonly run: PairedRun;
  readonly row: PairedRow;
  readonly place: PairedRow['places'][number];
  readonly code: number | undefined;
}

/** The state and the bars of a step or cell in one run. */
function Line({ run, row, place, code, span, linkOf }: LineProps) {
  const { letter, runId, model, history, gaps, startedAt, now, critical } = run;
  const { step, cell } = row;
  if (place === undefined || code === undefined) return <span class="pair-line soft">{letter}</span>;
  const retries = history === undefined ? [] : findRetries(history, place, now);
  const isCritical = cell === undefined ? critical.steps.has(place.step) : critical.hasCell(step, cell);
  const words = `${STATUSES[code]!.label}${isCritical ? ', on the critical path' : ''}`;
  const name = cell === undefined ? step : `${step}/${cell}`;
  return (
    <span class={`pair-line ${isCritical ? 'critical' : ''}`}>
      <a href={linkOf(runId, { step, cell: place.cell })} aria-label={`${name}, run ${letter}: ${words}`}>
        {letter} <StatusMark code={code} isShort />
      </a>
      <Track {...{ history, model, gaps, code, retries }} row={place} scale={{ startedAt, span, now }} />
    </span>
  );
}

/** A replayed cell that the history does not mention yet waits. */
function codeOfRow({ model }: PairedRun, place: PairedRow['places'][number]): number | undefined {
  if (place === undefined) return undefined;
  return place.cell === undefined ? stepCodes(model)[place.step] : (model.cells[place.step]![place.cell] ?? 0);
}

function cellsOf({ model }: PairedRun, place: PairedRow['places'][number]): number {
  return place === undefined ? 0 : model.cells[place.step]!.length;
}
