import { cellValuesOf } from '../report/cell-values-of.ts';
import { describeFailure, failureAt } from '../report/describe-failure.ts';
import { explainCell } from '../report/explain-cell.ts';
import { groupFailures } from '../report/group-failures.ts';
import type { ReportSource } from '../report/report-source.ts';
import { type CellState, FAILED_STATES } from '../scheduler/model/cell-state.ts';
import type { SkipCause } from '../scheduler/model/skip-cause.ts';
import type { FailureGroup, FailureReport, SkippedStep } from '../schemas/failure.ts';

/** Why the cells of a run failed, and what did not run because of it. */
export interface FailuresView {
  readonly failureGroups: readonly FailureGroup[];
  readonly failureGroupCount: number;
  readonly failedCellCount: number;
  readonly skippedSteps: readonly SkippedStep[];
}

/** A cell that has failed in the end. */
interface FailedCell {
  readonly step: number;
  readonly cell: number;
  /** Its last failed attempt; undefined if it was never tried. */
  readonly last: { readonly attempt: number; readonly cause: NonNullable<ReturnType<typeof failureAt>> } | undefined;
}

/** Cells that are grouped: a page asks for them every few seconds, and a run may have a million failures. */
const MAX_CELLS = 10_000;
const MAX_GROUPS = 20;
const MAX_NAMES = 20;
const TAIL_LINES = 10;
const MAX_SKIPPED = 100;

/**
 * Attempts that were followed by a success, or by a further attempt, are no failures of the run. Groups have the 10,000 cells
 * that failed last.
 */
export function viewFailures(source: ReportSource): FailuresView {
  const { facts } = source;
  const failedSteps = new Set<string>();
  let failedCellCount = 0;
  for (const { index, step } of facts.plan.steps) {
    const count = countCells(source, index, (state) => FAILED_STATES.has(state));
    failedCellCount += count;
    if (count > 0) failedSteps.add(step.name);
  }
  if (failedCellCount === 0) return NO_FAILURES;
  const groups = groupFailures(listFailed(source, failedCellCount), (failed) => {
    const { class: reason, exitCode, message = endOf(source, failed) } = failed.last?.cause ?? {};
    return { step: facts.plan.steps[failed.step]!.step.name, reason, exitCode, message };
  });
  return {
    failureGroups: groups.slice(0, MAX_GROUPS).map((group) => ({
      ...describeFirst(source, group[0]),
      cellCount: group.length,
      cells: group
        .slice(0, MAX_NAMES)
        .map(({ step, cell }) => ({ cell: facts.cells[step]?.[cell]?.key ?? '', cellIndex: cell })),
    })),
    failureGroupCount: groups.length,
    failedCellCount,
    skippedSteps: listSkipped(source, failedSteps),
  };
}

const NO_FAILURES: FailuresView = {
  failureGroups: [],
  failureGroupCount: 0,
  failedCellCount: 0,
  skippedSteps: [],
};

/** In the order in which they ended; those that were never tried come last. */
function listFailed({ facts, scheduler }: ReportSource, count: number): readonly FailedCell[] {
  const last = new Map<string, FailedCell>();
  for (let place = facts.failures.length - 1; place >= 0 && last.size < MAX_CELLS; place--) {
    const entry = facts.failures[place]!;
    const { step, cell, attempt } = entry;
    const key = `${step}/${cell}`;
    if (last.has(key) || !FAILED_STATES.has(scheduler.state(step, cell))) continue;
    const cause = failureAt(facts, entry);
    if (cause !== undefined) last.set(key, { step, cell, last: { attempt, cause } });
  }
  const tried = [...last.values()].reverse();
  if (tried.length === count) return tried;
  const untried: FailedCell[] = [];
  for (const { index: step } of facts.plan.steps) {
    const cells = scheduler.cellCount(step) ?? 1;
    for (let cell = 0; cell < cells && tried.length + untried.length < MAX_CELLS; cell++) {
      if (FAILED_STATES.has(scheduler.state(step, cell)) && !last.has(`${step}/${cell}`))
        untried.push({ step, cell, last: undefined });
    }
  }
  return [...tried, ...untried];
}

/** Why a cell has failed that was never tried, such as a rejected approval. */
function endOf(source: ReportSource, { step, cell }: FailedCell): string {
  return explainCell(source, step, cell) ?? 'it could not be started';
}

function describeFirst(source: ReportSource, failed: FailedCell): Omit<FailureReport, 'logFile'> {
  const { facts } = source;
  const { step, cell, last } = failed;
  if (last !== undefined) {
    const { logFile: _, ...failure } = describeFailure(source, { step, cell, attempt: last.attempt });
    return { ...failure, logTail: failure.logTail.slice(-TAIL_LINES) };
  }
  return {
    step: facts.plan.steps[step]!.step.name,
    cell: facts.cells[step]?.[cell]?.key ?? '',
    ...cellValuesOf(facts, step, cell),
    attempt: 1,
    status: 'failed',
    message: endOf(source, failed),
    logTail: [],
  };
}

function listSkipped(source: ReportSource, failed: ReadonlySet<string>): readonly SkippedStep[] {
  const { facts, scheduler } = source;
  const skipped: SkippedStep[] = [];
  for (const { index, step } of facts.plan.steps) {
    if (skipped.length === MAX_SKIPPED) break;
    const cellCount = countCells(source, index, isSkipped);
    if (cellCount === 0) continue;
    let first = 0;
    while (!isSkipped(scheduler.state(index, first))) first += 1;
    // The others of a step were hardly ever skipped for another reason, and asking for it takes longer than their number.
    if (!isOf(scheduler.skipCause(index, first), failed)) continue;
    skipped.push({ step: step.name, cellCount, message: explainCell(source, index, first) ?? '' });
  }
  return skipped;
}

function isSkipped(state: CellState): boolean {
  return state === 'skipped';
}

function countCells({ scheduler }: ReportSource, step: number, matches: (state: CellState) => boolean): number {
  let count = 0;
  const cells = scheduler.cellCount(step) ?? 1;
  for (let cell = 0; cell < cells; cell++) if (matches(scheduler.state(step, cell))) count += 1;
  return count;
}

/** Whether one of the failed steps is the cause. */
function isOf(cause: SkipCause | undefined, failed: ReadonlySet<string>): boolean {
  if (cause?.kind === 'dependency' || cause?.kind === 'failFast') return failed.has(cause.step);
  return cause?.kind === 'tolerance';
}
