import { renderDuration } from '@sluice/core';
import { summarizeCounts } from '@sluice/run';
import type { PlanSteps } from '../layout/plan-shape.ts';
import type { ChangeHistory, Retry } from '../model/change-history.ts';
import type { Gap } from '../model/find-gaps.ts';
import { renderCount } from '../model/render-count.ts';
import { countsOf, type RunModel } from '../model/run-model.ts';
import { findCellBars, findRetries, findStepBar, type TimelineBar } from '../model/timeline-bars.ts';
import { StatusMark } from './status-mark.tsx';
import { timeWords } from './time-words.ts';

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
  readonly nameOf: (step: number, cell: number) => string;
  readonly startedAt: number;
  /** The present, or the time that the slider shows. */
  readonly now: number;
  /** Of the axis: the present, or the end of the run. */
  readonly end: number;
  readonly selected: Selection | undefined;
  readonly expanded: ReadonlyMap<number, number>;
  readonly critical: ReadonlySet<number>;
  readonly gaps: readonly Gap[];
  readonly onSelect: (selection: Selection) => void;
  readonly onOpen: (selection: Selection) => void;
  readonly onToggle: (step: number) => void;
  /** Folds the group of a step. */
  readonly onFold: (step: number) => void;
}

/** The place of the time axis. */
interface Scale {
  readonly startedAt: number;
  readonly span: number;
  readonly now: number;
}

/** The most marks of retries in one row. */
const MAX_MARKS = 60;

/** The row of a step or a cell: its name, and its bars. */
export function TimelineRow(props: TimelineProps & { row: Selection; index: number; span: number }) {
  const { row, steps, model, selected, expanded, critical, startedAt, now, span, index } = props;
  const { step, cell } = row;
  const cells = model.cells[step]!;
  const code = cell === undefined ? summarizeCounts(countsOf(model, step)) : cells[cell]!;
  const retries = props.history === undefined ? [] : findRetries(props.history, row, now);
  const isStep = cell === undefined;
  const level = isStep ? 1 : 2;
  const name = isStep ? steps[step]!.step : props.nameOf(step, cell);
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
        {isStep && cells.length > 1 && <span class="soft"> ×{renderCount(cells.length)}</span>}
        {retries.length > 0 && <RetryCount count={retries.length} />}
      </span>
      <Track {...props} {...{ row, code, retries }} scale={{ startedAt, span, now }} />
    </div>
  );
}

interface TrackProps extends Pick<TimelineProps, 'history' | 'model' | 'gaps'> {
  readonly row: Selection;
  readonly code: number;
  readonly retries: readonly Retry[];
  readonly scale: Scale;
}

/** The bars of a row, with gaps and retries. */
export function Track({ history, model, gaps, row, code, retries, scale }: TrackProps) {
  const bars = history === undefined ? [] : barsOf(history, model, { row, now: scale.now, code });
  return (
    <span class="track">
      {gaps.map((gap) => (
        <GapBar key={gap.from} gap={gap} {...scale} />
      ))}
      {bars.map((bar, place) => (
        <Bar key={place} bar={bar} {...scale} />
      ))}
      {retries.slice(-MAX_MARKS).map((retry, place) => (
        <RetryMark key={place} retry={retry} {...scale} />
      ))}
    </span>
  );
}

function RetryCount({ count }: { count: number }) {
  const words = count === 1 ? '1 retry' : `${renderCount(count)} retries`;
  return (
    <span class="soft retries" title={words}>
      <span aria-hidden="true">↻{renderCount(count)}</span>
      <span class="hidden">{words}</span>
    </span>
  );
}

function RetryMark({ retry: { at, attempt }, startedAt, span }: Scale & { retry: Retry }) {
  const title = `attempt ${attempt}, ${timeWords(at)}`;
  return <i class="retry" title={title} style={{ left: `${(100 * (at - startedAt)) / span}%` }} />;
}

/** A time in which no process executed the run. */
export function GapBar({ gap: { from, to }, startedAt, span, now }: Scale & { gap: Gap }) {
  if (from >= now) return null;
  const title = `no process executed the run: since ${timeWords(from)} at the earliest, until ${timeWords(to)}`;
  return <i class="gap" title={title} style={placeOf(from, Math.min(to, now), { startedAt, span })} />;
}

function Bar({ bar, startedAt, span, now }: Scale & { bar: TimelineBar }) {
  if (bar.from > now) return null;
  const to = Math.min(bar.to, now);
  const words = `${bar.kind === 'ran' ? bar.label : bar.kind === 'queue' ? 'queued at the service' : 'waiting'}`;
  const look = bar.shares === undefined ? `tone-${bar.tone}` : `shared ${bar.tone === 'bad' ? 'has-bad' : ''}`;
  return (
    <i
      class={`bar ${bar.kind} ${look}`}
      title={`${words}, ${renderDuration(to - bar.from)}`}
      style={placeOf(bar.from, to, { startedAt, span })}
    >
      {bar.shares?.map(({ tone, count }, place) => (
        <b key={place} class={`tone-${tone}`} style={{ flexGrow: count }} />
      ))}
    </i>
  );
}

function placeOf(from: number, to: number, { startedAt, span }: Pick<Scale, 'startedAt' | 'span'>) {
  return { left: `${(100 * (from - startedAt)) / span}%`, width: `${(100 * (to - from)) / span}%` };
}

function barsOf(
  history: ChangeHistory,
  model: RunModel,
  { row: { step, cell }, now, code }: { row: Selection; now: number; code: number },
): TimelineBar[] {
  if (cell !== undefined || model.cells[step]!.length <= 1)
    return findCellBars(history, { step, cell: cell ?? 0 }, now);
  return findStepBar(history, step, { now, code, counts: countsOf(model, step) });
}

/** Whether a row is the selected one. */
export function isSame(row: Selection, selected: Selection | undefined): boolean {
  return row.step === selected?.step && row.cell === selected.cell;
}

/** The ID of a row's element. */
export function rowId({ step, cell }: Selection): string {
  return `row-${step}${cell === undefined ? '' : `-${cell}`}`;
}
