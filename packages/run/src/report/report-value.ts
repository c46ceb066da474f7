import type { CellView } from '../schemas/cell.ts';
import type { DetailedReport, RunReport, StepReport } from '../schemas/run-report.ts';
import { type JsonTimes, renderTimes } from './json-times.ts';

/** A step in JSON. */
type StepValue = Omit<StepReport, 'cells'> & { readonly cells: readonly JsonTimes<CellView>[] };

type WithValues<T extends RunReport> = Omit<JsonTimes<T>, 'steps' | 'warnings'> & {
  readonly steps: readonly StepValue[];
  readonly warnings?: readonly JsonTimes<NonNullable<RunReport['warnings']>[number]>[];
};

/** The report of a run in JSON, with times in RFC 3339. */
export type RunReportValue = WithValues<RunReport>;

/** The report with all attempts in JSON: the content of `report.json`, except `schema` and `type`. */
export type DetailedReportValue = Omit<WithValues<DetailedReport>, 'attempts' | 'criticalPath'> & {
  readonly attempts: readonly JsonTimes<DetailedReport['attempts'][number]>[];
  readonly criticalPath: readonly JsonTimes<DetailedReport['criticalPath'][number]>[];
};

/** Converts a report to the JSON value that `sluice show --json` prints and the last event of a run contains. */
export function runReportValue(report: RunReport): RunReportValue {
  return { ...renderFields(report), steps: renderSteps(report) };
}

/** Converts a report with all attempts to the JSON value of `report.json`. */
export function detailedReportValue(report: DetailedReport): DetailedReportValue {
  return { ...reportFields(report), steps: renderSteps(report), attempts: report.attempts.map(renderTimes) };
}

/** The fields of a report in JSON, except the long lists: steps and attempts still have their times in milliseconds. */
export function reportFields(report: DetailedReport) {
  return { ...renderFields(report), criticalPath: report.criticalPath.map(renderTimes) };
}

function renderFields<T extends RunReport>(report: T) {
  const { warnings } = report;
  return { ...renderTimes(report), ...(warnings && { warnings: warnings.map(renderTimes) }) };
}

function renderSteps({ steps }: RunReport): readonly StepValue[] {
  return steps.map((step) => ({ ...step, cells: step.cells.map(renderTimes) }));
}
