import type { CellView } from '../schemas/cell.ts';
import type { FailureReport } from '../schemas/failure.ts';
import type { RunReport, StepReport } from '../schemas/run-report.ts';
import { describeStatus } from './describe-status.ts';
import { spanMs } from './durations.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import { runBeganAt, tookMs } from './run-times.ts';

/** A cell of the run as JUnit sees it. */
interface TestCase {
  readonly name: string;
  readonly ranMs: number;
  readonly outcome: 'passed' | 'failure' | 'error' | 'skipped';
  /** The element that says why it has not passed. */
  readonly element: Markup;
}

/**
 * A run as JUnit XML: a test suite for each step, a test case for each cell. A failure of the infrastructure is an
 * error, any other a failure. What was canceled or has not ended counts as skipped, because it says nothing about the
 * step.
 */
export function renderJunit(report: RunReport): string {
  // In the order in which they ended, so that the last failure of a cell remains.
  const failures = new Map(report.failures.map((failure) => [`${failure.step}/${failure.cell}`, failure]));
  const suites = report.steps.map((step) => ({ step, cases: describeCases(step, failures) }));
  const ranMs = tookMs(report, runBeganAt(report));
  const total = countCases(suites.flatMap(({ cases }) => cases));
  const elements = suites.map(({ step, cases }) => {
    const counts = countCases(cases);
    const sumMs = cases.reduce((sum, one) => sum + one.ranMs, 0);
    const startedAt = step.cells.find((cell) => cell.submittedAt !== undefined)?.submittedAt ?? runBeganAt(report);
    return markup`  <testsuite name="${step.step}" tests="${counts.tests}" failures="${counts.failures}" errors="${counts.errors}" skipped="${counts.skipped}" time="${seconds(sumMs)}" timestamp="${new Date(startedAt).toISOString()}" id="${report.runId}">
${cases.map((one) => renderCase(one, `${report.pipeline}.${step.step}`))}  </testsuite>
`;
  });
  return markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${report.pipeline}" tests="${total.tests}" failures="${total.failures}" errors="${total.errors}" time="${seconds(ranMs)}">
${elements}</testsuites>
`.html;
}

function describeCases(step: StepReport, failures: ReadonlyMap<string, FailureReport>): readonly TestCase[] {
  // A `foreach` step that has no items, or whose items are not known yet, has no cells.
  const cells = step.cells.length > 0 ? step.cells : [{ ...step, cell: '', attempt: 0, results: {} }];
  return cells.map((cell) => describeCase(step.step, cell, failures.get(`${step.step}/${cell.cell}`)));
}

function describeCase(step: string, cell: CellView, failure: FailureReport | undefined): TestCase {
  const base = { name: cell.cell === '' ? step : cell.cell, ranMs: spanMs(cell) ?? 0 };
  if (cell.status === 'succeeded') return { ...base, outcome: 'passed', element: NOTHING };
  if (cell.status !== 'failed') {
    const why = cell.message === undefined ? '' : `: ${cell.message}`;
    return { ...base, outcome: 'skipped', element: markup`<skipped>${describeStatus(cell)}${why}</skipped>` };
  }
  const { reason = 'failed', message = failure?.message ?? describeStatus(cell) } = cell;
  const hint = failure?.hint === undefined ? [] : [failure.hint];
  const lines = [...hint, ...(failure?.logTail ?? [])].map((line) => markup`${line}\n`);
  return reason === 'infrastructure'
    ? { ...base, outcome: 'error', element: markup`<error type="${reason}" message="${message}">${lines}</error>` }
    : {
        ...base,
        outcome: 'failure',
        element: markup`<failure type="${reason}" message="${message}">${lines}</failure>`,
      };
}

function renderCase({ name, ranMs, element }: TestCase, classname: string): Markup {
  return markup`    <testcase name="${name}" classname="${classname}" time="${seconds(ranMs)}">${element}</testcase>
`;
}

function countCases(cases: readonly TestCase[]): Readonly<Record<'tests' | 'failures' | 'errors' | 'skipped', number>> {
  const counts = { passed: 0, failure: 0, error: 0, skipped: 0 };
  for (const { outcome } of cases) counts[outcome] += 1;
  return { tests: cases.length, failures: counts.failure, errors: counts.error, skipped: counts.skipped };
}

function seconds(milliseconds: number): string {
  return (Math.max(0, milliseconds) / 1000).toFixed(3);
}
