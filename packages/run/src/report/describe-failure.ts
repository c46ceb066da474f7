import { type AttemptFacts, evaluationErrorOf, type FailureEntry, type RunFacts } from '../facts/run-facts.ts';
import type { CancelReason } from '../scheduler/model/command.ts';
import type { Outcome } from '../scheduler/model/event.ts';
import type { FailureReport } from '../schemas/failure.ts';
import { cellValuesOf } from './cell-values-of.ts';
import { findPipeHint } from './find-pipe-hint.ts';
import { findReadOnlyHint } from './find-read-only-hint.ts';
import { findSpaceHint } from './find-space-hint.ts';
import type { ReportSource } from './report-source.ts';
import { verdictOf } from './verdict-of.ts';

type Failed = Extract<Outcome, { result: 'failed' }>;

function failureOf(attempt: AttemptFacts): Failed | undefined {
  const outcome = verdictOf(attempt);
  return outcome?.result === 'failed' ? outcome : undefined;
}

/** The step has no attempt because its `when` or `foreach` could not be evaluated. */
function describeEvaluation(facts: RunFacts, { step, cell }: { step: number; cell: number }): Failed | undefined {
  const message = evaluationErrorOf(facts, step, cell);
  return message === undefined ? undefined : { result: 'failed', class: 'failed', message };
}

/** Why an attempt was canceled that has not failed. */
const CANCEL_WORDS: ReadonlyMap<string, string> = new Map<CancelReason, string>([
  ['noLongerNeeded', 'canceled: no step needs it any longer'],
  ['deadline', 'canceled: its deadline had passed'],
  ['runTimeout', 'canceled: the timeout of the run had passed'],
]);

function attemptAt({ known }: RunFacts, { step, cell, attempt }: FailureEntry): AttemptFacts | undefined {
  return known[step]?.[cell]?.attempts.find((one) => one.attempt === attempt);
}

/** How an attempt, or the evaluation of a step, has failed; undefined if it was canceled. */
export function failureAt(facts: RunFacts, entry: FailureEntry): Failed | undefined {
  const attempt = attemptAt(facts, entry);
  return attempt ? failureOf(attempt) : describeEvaluation(facts, entry);
}

/** A failed attempt with its message, hint and log, to be shown to the user. */
export function describeFailure(
  { facts, directory }: Pick<ReportSource, 'facts' | 'directory'>,
  entry: FailureEntry,
): FailureReport {
  const attempt = attemptAt(facts, entry);
  const failed = failureAt(facts, entry);
  const step = facts.plan.steps[entry.step]!.step;
  const tail = attempt?.logTail ?? [];
  const hint =
    findReadOnlyHint(step, tail) ?? findSpaceHint(failed?.message, tail) ?? findPipeHint(step, failed?.exitCode);
  return {
    step: step.name,
    cell: facts.cells[entry.step]?.[entry.cell]?.key ?? '',
    ...cellValuesOf(facts, entry.step, entry.cell),
    attempt: entry.attempt,
    status: failed ? 'failed' : 'canceled',
    ...(failed && { reason: failed.class }),
    ...(failed?.exitCode !== undefined && { exitCode: failed.exitCode }),
    message: failed?.message ?? CANCEL_WORDS.get(attempt?.cancelReason ?? '') ?? 'canceled',
    ...(attempt?.id !== undefined && { containerId: attempt.id }),
    ...(hint !== undefined && { hint }),
    logTail: tail,
    ...(attempt?.logFile !== undefined && { logFile: `${directory}/${attempt.logFile}` }),
  };
}
