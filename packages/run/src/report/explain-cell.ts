import type { NeedCondition } from '@sluice/core';
import { evaluationErrorOf, type RunFacts } from '../facts/run-facts.ts';
import { stepIndex } from '../facts/step-context.ts';
import { FAILED_STATES } from '../scheduler/model/cell-state.ts';
import type { PostponeReason } from '../scheduler/model/event.ts';
import type { SkipCause } from '../scheduler/model/skip-cause.ts';
import type { WaitReason } from '../scheduler/model/wait-reason.ts';
import { describeApproval } from './describe-approval.ts';
import type { ReportSource } from './report-source.ts';
import { verdictOf } from './verdict-of.ts';

/** One line on why a cell waits, was skipped or failed; undefined in any other state. */
export function explainCell(
  { facts, scheduler }: Pick<ReportSource, 'facts' | 'scheduler'>,
  step: number,
  cell: number,
): string | undefined {
  const error = evaluationErrorOf(facts, step, cell);
  if (error !== undefined) return error;
  const wait = scheduler.waitReason(step, cell);
  if (wait?.kind === 'approval') return `${describeWait(wait)}: ${describeApproval({ facts, scheduler }, step, cell)}`;
  if (wait) return describeWait(wait);
  const skip = scheduler.skipCause(step, cell);
  // A cell that failed itself is not explained by another step's failure, which only prevented a further attempt.
  const isOwn =
    (skip?.kind === 'failFast' || skip?.kind === 'tolerance') && FAILED_STATES.has(scheduler.state(step, cell));
  if (skip && !isOwn) return describeSkip(skip, facts);
  const last = facts.known[step]?.[cell]?.attempts.at(-1);
  if (last === undefined && facts.plan.steps[step]!.step.approval !== undefined)
    return REJECTED.get(scheduler.state(step, cell));
  const outcome = last && verdictOf(last);
  return outcome?.result === 'failed' ? outcome.message : undefined;
}

const REJECTED: ReadonlyMap<string, string> = new Map([
  ['failed', 'the approval was rejected'],
  ['timedOut', 'the approval was not answered in time'],
]);

/** A wait reason in words. */
export function describeWait(wait: WaitReason): string {
  switch (wait.kind) {
    case 'dependency':
      return `waits for ${wait.steps.join(', ')}`;
    case 'finally':
      return `waits until all other steps have finished (${wait.open} left)`;
    case 'decision':
      return 'its condition is being evaluated';
    case 'lookUp':
      return 'an earlier result is being looked up';
    case 'approval':
      return 'waits for approval';
    case 'parallelism':
      return `waits for parallelism: ${wait.used} of ${wait.size} are in use`;
    case 'items':
      return `waits for an item of axis ${wait.axis} to end: ${wait.used} of ${wait.size} are in progress`;
    case 'stepParallelism':
      return `waits for parallelism of the step: ${wait.used} of ${wait.size} are in use`;
    case 'pool':
      return `waits for pool ${wait.pool}: needs ${wait.needed}, ${wait.used} of ${wait.size} are in use`;
    case 'limit':
      return `waits for limit ${wait.limit}: needs ${wait.needed}, ${wait.used} of ${wait.size} are in use`;
    case 'backoff':
      return `attempt ${wait.attempt} starts at ${new Date(wait.until).toISOString()}`;
    case 'queued':
      return 'queued behind higher-priority steps';
    case 'postponed':
      return `${wait.detail ?? POSTPONED[wait.reason]}; tried again at ${new Date(wait.until).toISOString()}`;
  }
}

const POSTPONED: Readonly<Record<PostponeReason, string>> = {
  quota: 'the account has reached its quota',
  throttled: 'the service asks for fewer calls',
  pool: 'another run holds the pool',
  volume: 'a volume is not available yet',
  unavailable: 'the service does not answer',
  storage: 'the disk of the service is full',
  placement: 'no cluster that it may run on has capacity',
};

const NOT_GIVEN: Readonly<Record<NeedCondition, string>> = {
  succeeded: 'did not succeed',
  failed: 'did not fail',
  completed: 'did not end',
  skipped: 'was not skipped',
  running: 'never ran',
};

function describeSkip(cause: SkipCause, facts: RunFacts): string {
  switch (cause.kind) {
    case 'when':
      return 'its condition does not hold';
    case 'dependency':
      return describeDependency(cause, facts);
    case 'noItem':
      return `${cause.step} has no cell for it`;
    case 'failFast':
      return `${cause.step} failed`;
    case 'tolerance':
      return `${cause.failed} cells of the step failed, and its \`continueOnError\` tolerates ${cause.tolerated}`;
    case 'notNeeded':
      return 'no step needs it any longer';
    case 'canceled':
      return 'the run was canceled';
    case 'runTimeout':
      return 'the timeout of the run had passed';
    case 'deadline':
      return 'its deadline had passed';
    case 'stuck':
      return `could never start: ${describeWait(cause.wait)}; deadlock: that capacity can never be freed`;
  }
}

/** Names the failed cells of a directory, as far as they fit in a line. */
function describeDependency(cause: Extract<SkipCause, { kind: 'dependency' }>, facts: RunFacts): string {
  const { step, condition, failedCells } = cause;
  if (failedCells === undefined) return `${nameOf(cause, facts)} ${NOT_GIVEN[condition]}`;
  const named = failedCells.slice(0, MAX_NAMED).map((cell) => nameOf({ step, cell }, facts));
  const others = failedCells.length - named.length;
  return `${named.join(', ')}${others > 0 ? ` and ${others} others` : ''} ${NOT_GIVEN[condition]}`;
}

const MAX_NAMED = 5;

/** The root cause as commands name it. */
function nameOf({ step, cell }: { readonly step: string; readonly cell?: number }, { plan, cells }: RunFacts): string {
  const index = stepIndex(plan, step);
  const key = index === undefined || cell === undefined ? undefined : cells[index]?.[cell]?.key;
  return key === undefined ? step : `${step}/${key}`;
}
