import type { CellChange } from '@sluice/host';
import { createRunModel, type RunModel, setCell } from './run-model.ts';
import { codeOf, isFinished, RUNNING } from './statuses.ts';

/** All changes of a run so far, in order, with what the timeline reads from them. */
export interface ChangeHistory {
  /** The last position that is contained. */
  position: number;
  /** In milliseconds. Clocks can be set back: later changes can have earlier times. */
  readonly at: number[];
  readonly step: number[];
  readonly cell: number[];
  readonly code: number[];
  readonly attempt: number[];
  /** For each change the index of the previous one of the same cell, or -1. */
  readonly previous: number[];
  /** For each step and cell the index of its last change; undefined before the first. */
  readonly last: (number | undefined)[][];
  /** The first start and the latest end of each step's cells; undefined before. */
  readonly spans: StepSpan[];
  /** For each step the retries of its cells. */
  readonly retries: readonly Retry[][];
}

/** The beginning of an attempt of a cell after another one, in milliseconds. */
export interface Retry {
  readonly at: number;
  readonly cell: number;
  readonly attempt: number;
}

/** When cells of a step ran, in milliseconds. */
export interface StepSpan {
  begunAt: number | undefined;
  endedAt: number | undefined;
}

/** An empty history of a run with this many steps. */
export function createHistory(steps: number): ChangeHistory {
  return {
    position: 0,
    at: [],
    step: [],
    cell: [],
    code: [],
    attempt: [],
    previous: [],
    last: Array.from({ length: steps }, () => []),
    spans: Array.from({ length: steps }, () => ({ begunAt: undefined, endedAt: undefined })),
    retries: Array.from({ length: steps }, () => []),
  };
}

/** Adds the changes that follow. Ignores those that the history contains already. */
export function extendHistory(history: ChangeHistory, changes: readonly CellChange[], position: number): void {
  const known = history.position;
  for (const [number, at, step, cell, status, attempt, reused] of changes) {
    const span = history.spans[step];
    if (number <= known || span === undefined) continue;
    const code = codeOf(status, reused);
    const last = history.last[step]!;
    // Arrays with gaps are slow.
    while (last.length <= cell) last.push(undefined);
    const previous = last[cell] ?? -1;
    if (attempt > 1 && attempt !== history.attempt[previous]) history.retries[step]!.push({ at, cell, attempt });
    history.previous.push(previous);
    last[cell] = history.at.length;
    history.at.push(at);
    history.step.push(step);
    history.cell.push(cell);
    history.code.push(code);
    history.attempt.push(attempt);
    if (code === RUNNING) span.begunAt ??= at;
    if (isFinished(code)) span.endedAt = Math.max(span.endedAt ?? at, at);
  }
  history.position = Math.max(known, position);
}

/** Indexes of the changes of a cell, in order. */
export function changesOfCell({ previous, last }: ChangeHistory, step: number, cell: number): number[] {
  const found: number[] = [];
  for (let change = last[step]?.[cell] ?? -1; change !== -1; change = previous[change]!) found.push(change);
  return found.reverse();
}

/** The states after the first `count` changes. Continues from `previous`, if that is the model of fewer changes. */
export function replayHistory(history: ChangeHistory, count: number, previous?: Replay): Replay {
  const start = previous !== undefined && previous.count <= count ? previous : emptyReplay(history);
  for (let i = start.count; i < count; i++)
    setCell(start.model, { step: history.step[i]!, cell: history.cell[i]!, code: history.code[i]! });
  return { model: start.model, count };
}

/** The states at one point of the history. */
export interface Replay {
  readonly model: RunModel;
  /** The number of changes that the model contains. */
  readonly count: number;
}

/** The number of changes up to the time `at`. */
export function countUntil(history: ChangeHistory, at: number): number {
  let [low, high] = [0, history.at.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (history.at[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function emptyReplay({ last }: ChangeHistory): Replay {
  // Every cell that the history mentions is waiting at first.
  const states = last.map(({ length }) => 'w'.repeat(length));
  return { model: createRunModel({ position: 0, states }), count: 0 };
}
