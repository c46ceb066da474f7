import { cellsInOrder } from '../facts/listed-cells.ts';
import type { RunReport, StepReport } from '../schemas/run-report.ts';
import type { RunPhase } from '../schemas/statuses.ts';
import { describeFailure } from './describe-failure.ts';
import { reportOutputs } from './report-outputs.ts';
import { reportResults } from './report-results.ts';
import type { ReportSource } from './report-source.ts';
import { timesOf } from './run-times.ts';
import { statusOfStep } from './status-of-cell.ts';
import { measureTimeSpent } from './time-spent.ts';
import { viewCell } from './view-cell.ts';

/** The report of a run in its present state. */
export function createReport(source: ReportSource, status: RunPhase, message?: string): RunReport {
  const { facts } = source;
  const header = facts.header;
  const { name, labels } = facts.plan.pipeline;
  const { now = facts.recordedAt } = source;
  const timeSpent = measureTimeSpent(source, { now, isExecuted: status === 'running' });
  return {
    runId: header?.runId ?? '',
    pipeline: name,
    ...(Object.keys(labels).length > 0 && { labels }),
    status,
    ...(message !== undefined && { message }),
    ...timesOf(facts),
    ...(timeSpent && { timeSpent }),
    clusterId: header?.clusterID ?? '',
    accountId: header?.accountID ?? '',
    steps: facts.plan.steps.map((_, step) => reportStep(source, step)),
    failures: facts.failures.map((entry) => describeFailure(source, entry)),
    ...(facts.warnings.length > 0 && { warnings: facts.warnings.slice() }),
    outputs: reportOutputs(source),
    ...reportResults(source),
    ...(Object.keys(facts.staleOutputs).length > 0 && { staleOutputs: facts.staleOutputs }),
    ...(header?.order && { order: header.order }),
  };
}

function reportStep(source: ReportSource, step: number): StepReport {
  // Otherwise the reason would be nowhere: a `foreach` that cannot be evaluated has only the cell that represents all.
  const { facts } = source;
  const isUndecided = facts.cells[step] === undefined && facts.evaluationErrors.has(step);
  const { name, each } = facts.plan.steps[step]!.step;
  return {
    step: name,
    ...statusOfStep(source, step),
    ...(each && { each }),
    cells: (isUndecided ? [0] : cellsInOrder(facts, step)).map((cell) => viewCell(source, step, cell)),
  };
}
