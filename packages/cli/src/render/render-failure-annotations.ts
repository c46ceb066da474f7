import type { SourceRange } from '@sluice/core';
import { printableLine, type RunReport, type StepReport } from '@sluice/run';
import { workflowCommand } from '../text/workflow-command.ts';
import { type FailureGroup, findFailures } from './find-failures.ts';
import { label } from './render-event.ts';

/** GitHub shows ten annotations of each kind for a command. */
const MAX_STEPS = 10;
const TAIL_LINES = 5;

/**
 * An annotation of GitHub Actions for each failed step: errors, or warnings if the run has succeeded in spite of them.
 * `locate` returns the position of a step in its file, whose path is relative to the repository.
 */
export function renderFailureAnnotations(
  report: RunReport,
  locate: (step: string) => Pick<SourceRange, 'file' | 'line' | 'column'> | undefined,
): string {
  const failures = findFailures(report);
  const failed = report.steps.filter(({ status }) => status === 'failed').slice(0, MAX_STEPS);
  return failed
    .map((step) => {
      const place = locate(step.step);
      return workflowCommand(report.status === 'succeeded' ? 'warning' : 'error', describeFailure(step, failures), {
        file: place?.file,
        line: place?.line,
        col: place?.column,
        title: `step ${step.step} failed`,
      });
    })
    .join('');
}

/** What happened to the first cell that failed, and the end of its log. */
function describeFailure({ step: name, cells }: StepReport, failures: readonly FailureGroup[]): string {
  const failed = cells.filter(({ status }) => status === 'failed');
  const group = failures.find(({ failure }) => failure.step === name);
  const [first] = failed;
  if (first === undefined) return `${name} failed`;
  const address = group?.name ?? label(name, first.cell);
  const failure = group?.failure;
  const message = printableLine(failure?.message ?? first.message ?? 'failed');
  const more = failed.length > 1 ? `; ${failed.length} of ${cells.length} cells failed` : '';
  const hint = failure?.hint === undefined ? [] : [`hint: ${printableLine(failure.hint)}`];
  const tail = (failure?.logTail ?? []).slice(-TAIL_LINES).map(printableLine);
  return [`${address}: ${message}${more}`, ...hint, ...tail].join('\n');
}
