import type { FailureEntry } from '../facts/run-facts.ts';
import { describeFailure, failureAt } from '../report/describe-failure.ts';
import { explainCell } from '../report/explain-cell.ts';
import { groupFailures } from '../report/group-failures.ts';
import type { ReportSource } from '../report/report-source.ts';
import type { SkipCause } from '../scheduler/model/skip-cause.ts';
import type { FailureGroup, SkippedStep } from '../schemas/failure.ts';

/** Why the cells of a run failed, and what did not run because of it. */
export interface FailuresView {
  readonly failureGroups: readonly FailureGroup[];
  readonly failureGroupCount: number;
  readonly failedCellCount: number;
  readonly skippedSteps: readonly SkippedStep[];
}

const MAX_GROUPS = 20;
const MAX_NAMES = 20;
const TAIL_LINES = 10;
const MAX_SKIPPED = 100;
const FAILED: ReadonlySet<string> = new Set(['failed', 'errored', 'timedOut']);

/** Attempts that were followed by a success, or by a further attempt, are no failures of the run. */
export function viewFailures(source: ReportSource): FailuresView {
  const { facts } = source;
  const failed = lastFailures(source);
  const groups = groupFailures(failed, (entry) => {
    const { class: reason, exitCode, message = '' } = failureAt(facts, entry) ?? {};
    return { step: facts.plan.steps[entry.step]!.step.name, reason, exitCode, message };
  });
  return {
    failureGroups: groups.slice(0, MAX_GROUPS).map((group) => {
      const [first] = group;
      const { logFile: _, ...failure } = describeFailure(source, first);
      const names = group.slice(0, MAX_NAMES).map(({ step, cell }) => ({
        cell: facts.cells[step]?.[cell]?.key ?? '',
        cellIndex: cell,
      }));
      return { ...failure, logTail: failure.logTail.slice(-TAIL_LINES), cellCount: group.length, cells: names };
    }),
    failureGroupCount: groups.length,
    failedCellCount: failed.length,
    skippedSteps: listSkipped(source, new Set(failed.map(({ step }) => facts.plan.steps[step]!.step.name))),
  };
}

/** The last failure of each cell that has failed in the end, in the order in which they ended. */
function lastFailures({ facts, scheduler }: ReportSource): readonly FailureEntry[] {
  const last = new Map<string, FailureEntry>();
  for (const entry of facts.failures) {
    const { step, cell } = entry;
    if (!FAILED.has(scheduler.state(step, cell)) || failureAt(facts, entry) === undefined) continue;
    last.delete(`${step}/${cell}`);
    last.set(`${step}/${cell}`, entry);
  }
  return [...last.values()];
}

function listSkipped({ facts, scheduler }: ReportSource, failed: ReadonlySet<string>): readonly SkippedStep[] {
  const skipped: SkippedStep[] = [];
  for (const { index, step } of facts.plan.steps) {
    if (skipped.length === MAX_SKIPPED) break;
    let [first, cellCount] = [-1, 0];
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 1); cell++) {
      if (scheduler.state(index, cell) !== 'skipped' || !isOf(scheduler.skipCause(index, cell), failed)) continue;
      cellCount += 1;
      if (first === -1) first = cell;
    }
    if (first === -1) continue;
    skipped.push({ step: step.name, cellCount, message: explainCell({ facts, scheduler }, index, first) ?? '' });
  }
  return skipped;
}

/** Whether one of the failed steps is the cause. */
function isOf(cause: SkipCause | undefined, failed: ReadonlySet<string>): boolean {
  if (cause?.kind === 'dependency' || cause?.kind === 'failFast') return failed.has(cause.step);
  return cause?.kind === 'tolerance';
}
