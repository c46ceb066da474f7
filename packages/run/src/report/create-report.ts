import type { Cell } from '@sluice/core';
import type { AttemptFacts } from '../facts/run-facts.ts';
import { cellStatus, wholeStatus } from './cell-status.ts';
import { describeFailure } from './describe-failure.ts';
import { explainCell } from './explain-cell.ts';
import { exposedPorts } from './exposed-ports.ts';
import { itemOf } from './item-of.ts';
import { reportOutputs } from './report-outputs.ts';
import { reportResults } from './report-results.ts';
import type { ReportSource } from './report-source.ts';
import type { CellReport, RunPhase, RunReport, StepReport } from './run-report.ts';

/** The report of a run in its present state. */
export function createReport(source: ReportSource, status: RunPhase, message?: string): RunReport {
  const { facts } = source;
  const header = facts.header;
  return {
    runId: header?.runId ?? '',
    pipeline: facts.plan.pipeline.name,
    status,
    ...(message !== undefined && { message }),
    startedAt: facts.startedAt,
    ...(facts.finished && { endedAt: facts.finished.at }),
    clusterId: header?.clusterID ?? '',
    accountId: header?.accountID ?? '',
    steps: facts.plan.steps.map((_, step) => reportStep(source, step)),
    failures: facts.failures.map((entry) => describeFailure(source, entry)),
    ...(facts.warnings.length > 0 && { warnings: facts.warnings.slice() }),
    outputs: reportOutputs(source),
    ...reportResults(source),
    ...(Object.keys(facts.kept).length > 0 && { kept: facts.kept }),
    ...(header?.rerun && { rerun: header.rerun }),
  };
}

const UNDECIDED: Cell = { key: '', matrix: {} };

function reportStep(source: ReportSource, step: number): StepReport {
  // Otherwise the reason would be nowhere: a `foreach` that cannot be evaluated has only the cell that represents all.
  const cells = source.facts.cells[step] ?? (source.facts.evaluationErrors.has(step) ? [UNDECIDED] : []);
  return {
    name: source.facts.plan.steps[step]!.step.name,
    ...wholeStatus(source, step),
    cells: cells.map((_, cell) => reportCell(source, step, cell)),
  };
}

function reportCell({ facts, scheduler }: ReportSource, step: number, cell: number): CellReport {
  const known = facts.known[step]?.[cell];
  const last = known?.attempts.at(-1);
  const message = explainCell({ facts, scheduler }, step, cell);
  return {
    cell: facts.cells[step]?.[cell]?.key ?? '',
    ...itemOf(facts, step, cell),
    ...cellStatus({ facts, scheduler }, step, cell),
    attempts: last?.attempt ?? 0,
    ...(last && pickTimes(last)),
    ...(message !== undefined && { message }),
    ...exposedPorts({ facts, scheduler }, step, cell),
    results: known?.results ?? {},
    ...(known?.cached && { reusedFrom: known.cached.runId }),
  };
}

function pickTimes(attempt: AttemptFacts): Partial<CellReport> {
  return {
    ...(attempt.id !== undefined && { containerId: attempt.id }),
    ...(attempt.clusterID !== undefined && { clusterId: attempt.clusterID }),
    ...(attempt.submittedAt !== undefined && { submittedAt: attempt.submittedAt }),
    ...(attempt.runningAt !== undefined && { runningAt: attempt.runningAt }),
    ...(attempt.endedAt !== undefined && { endedAt: attempt.endedAt }),
  };
}
