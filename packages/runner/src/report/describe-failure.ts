import path from 'node:path';
import { findPipeHint } from './find-pipe-hint.ts';
import { findReadOnlyHint } from './find-read-only-hint.ts';
import { itemOf } from './item-of.ts';
import type { ReportSource } from './report-source.ts';
import type { FailureReport } from './run-report.ts';
import { verdictOf } from './verdict-of.ts';

/** A failed attempt with its message, hint and log, to be shown to the user. */
export function describeFailure(
  { facts, directory }: Pick<ReportSource, 'facts' | 'directory'>,
  entry: { step: number; cell: number; attempt: number },
): FailureReport {
  const attempt = facts.known[entry.step]?.[entry.cell]?.attempts.find((known) => known.attempt === entry.attempt);
  const outcome = attempt && verdictOf(attempt);
  const failed = outcome?.result === 'failed' ? outcome : undefined;
  const step = facts.plan.steps[entry.step]!.step;
  const hint = findReadOnlyHint(step, attempt?.logTail ?? []) ?? findPipeHint(step, failed?.exitCode);
  return {
    step: step.name,
    cell: facts.cells[entry.step]?.[entry.cell]?.key ?? '',
    ...itemOf(facts, entry.step, entry.cell),
    attempt: entry.attempt,
    status: failed ? 'failed' : 'canceled',
    ...(failed && { reason: failed.class }),
    ...(failed?.exitCode !== undefined && { exitCode: failed.exitCode }),
    message: failed?.message ?? `canceled${attempt?.cancelReason ? ` (${attempt.cancelReason})` : ''}`,
    ...(attempt?.id !== undefined && { containerId: attempt.id }),
    ...(hint !== undefined && { hint }),
    logTail: attempt?.logTail ?? [],
    ...(attempt?.logFile !== undefined && { logFile: path.join(directory, attempt.logFile) }),
  };
}
