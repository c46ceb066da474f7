import { planLevels } from '@sluice/core';
import { timeCells } from '../report/cell-times.ts';
import { findCriticalPath } from '../report/critical-path.ts';
import { describeFailure } from '../report/describe-failure.ts';
import { placeSteps } from '../report/detailed-report.ts';
import { type Span, spanOfAll, spanOfCell } from '../report/durations.ts';
import { endMessage } from '../report/end-message.ts';
import { reportOutputs } from '../report/report-outputs.ts';
import { reportResults } from '../report/report-results.ts';
import { describeServiceHold, findServiceHold } from '../report/service-hold.ts';
import { describeState } from '../report/status-of-cell.ts';
import { measureTimeSpent } from '../report/time-spent.ts';
import type { CriticalCell, RunReport } from '../schemas/run-report.ts';
import type { StatusReport } from '../schemas/status.ts';
import { type FailuresView, viewFailures } from './view-failures.ts';
import type { ViewedRun } from './viewed-run.ts';

/** The report of a followed run without its cells, of which there may be many. */
export interface RunView
  extends Pick<RunReport, 'message' | 'failures' | 'outputs' | 'results' | 'timeSpent'>,
    FailuresView {
  /** The status of each step of the plan, and when its cells ran. */
  readonly steps: readonly (StatusReport & Span)[];
  /** For each step of the plan its column in the graph: its distance from the start. */
  readonly levels: readonly number[];
  readonly criticalPath: readonly CriticalCell[];
}

/** Describes the run as it was last read, with at most so many failures; durations of a run in progress count until `now`. */
export function viewRun(
  run: ViewedRun,
  { failures, now }: { readonly failures: number; readonly now: number },
): RunView {
  const { model, directory } = run;
  const { facts, scheduler } = model;
  const source = { facts, scheduler, directory };
  const hold = facts.finished ? undefined : findServiceHold(model);
  const message = endMessage(facts, run.phase) ?? (hold && describeServiceHold(hold));
  const levels = planLevels(facts.plan);
  const times = timeCells(source, levels);
  const timeSpent = measureTimeSpent(model, { now, isExecuted: run.phase === 'running', times });
  return {
    ...(message !== undefined && { message }),
    failures: facts.failures.slice(0, failures).map((entry) => describeFailure(source, entry)),
    ...viewFailures(source),
    outputs: reportOutputs(source),
    ...reportResults(source),
    ...(timeSpent && { timeSpent }),
    steps: facts.plan.steps.map((_, step) => ({
      ...describeState(scheduler.state(step), () => false),
      ...spanOfAll((facts.known[step] ?? []).flatMap((known) => [spanOfCell(known)])),
    })),
    levels: placeSteps(facts.plan, levels),
    criticalPath: findCriticalPath(facts, times),
  };
}
