import { own } from '@sluice/core';
import type { DetailedReport, StepReport } from '../schemas/run-report.ts';
import { renderTimes } from './json-times.ts';
import { reportFields } from './report-value.ts';

/**
 * The text of `report.json` in many small parts, so that the report of a run with very many cells is never in memory as
 * text, which has a maximum length.
 */
export function renderReportJson(report: DetailedReport): Generator<string> {
  const { steps, attempts } = report;
  return renderObject(
    { schema: 1, type: 'report', ...reportFields(report) },
    { steps: () => renderList(steps, renderStep), attempts: () => renderList(attempts, renderPart) },
  );
}

function renderStep(step: StepReport): Iterable<string> {
  return renderObject(step, { cells: () => renderList(step.cells, renderPart) });
}

function renderPart(part: object): Iterable<string> {
  return [JSON.stringify(renderTimes(part))];
}

/** An object of which some values are rendered by functions. */
function* renderObject(value: object, rendered: Readonly<Record<string, () => Iterable<string>>>): Generator<string> {
  let separator = '{';
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* own(rendered, key)?.() ?? [JSON.stringify(item)];
    separator = ',';
  }
  yield '}';
}

function* renderList<T>(items: readonly T[], render: (item: T) => Iterable<string>): Generator<string> {
  let separator = '[';
  for (const item of items) {
    yield separator;
    yield* render(item);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}
