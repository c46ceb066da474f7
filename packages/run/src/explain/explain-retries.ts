import type { Retry, Step } from '@sluice/core';
import type { AttemptFacts } from '../facts/run-facts.ts';
import { verdictOf } from '../report/verdict-of.ts';
import { decideRetry, type FailedAttempt } from '../scheduler/flow/retry-decision.ts';
import type { Outcome } from '../scheduler/model/event.ts';

type Failed = Extract<Outcome, { result: 'failed' }>;

/**
 * For each failed attempt, the rule that decided whether it was retried. It calls the function that made the decision
 * during the run. `isFinished`: the cell will have no further attempt.
 */
export function explainRetries(
  attempts: readonly AttemptFacts[],
  { retry, isFinished, deadlineMs }: Pick<Step, 'retry' | 'deadlineMs'> & { readonly isFinished: boolean },
): ReadonlyMap<number, string> {
  const explanations = new Map<number, string>();
  const used = { retries: 0, infrastructureRetries: 0, escalationLevel: -1 };
  attempts.forEach((attempt, index) => {
    const verdict = verdictOf(attempt);
    if (verdict?.result !== 'failed') return;
    const failed: FailedAttempt = {
      ...used,
      class: verdict.class,
      exitCode: verdict.exitCode,
      permanent: verdict.permanent,
      isFree: verdict.isFree,
    };
    const decision = decideRetry(failed, retry);
    const isLast = index === attempts.length - 1;
    if (decision.retry && isLast && isFinished) {
      const why = deadlineMs === undefined ? '' : ', or the deadline of the step had passed';
      explanations.set(
        attempt.attempt,
        `not tried again, although its retries allow it: the run was being stopped${why}`,
      );
    } else if (!decision.retry) {
      explanations.set(attempt.attempt, `not tried again: ${whyNot(verdict, { retry, used: used.retries })}`);
    } else if (decision.budget === 'none') {
      explanations.set(attempt.attempt, 'tried again: the end of an allocation counts as no retry');
    } else if (decision.budget === 'infrastructure') {
      used.infrastructureRetries += 1;
      const count = `${used.infrastructureRetries} of ${retry.infrastructure}`;
      explanations.set(attempt.attempt, `tried again: retry ${count} of those for infrastructure failures`);
    } else {
      used.retries += 1;
      const escalation =
        decision.escalationLevel === used.escalationLevel
          ? ''
          : `, with ${describeEscalation(retry, decision.escalationLevel)}`;
      const count = `${used.retries} of ${retry.limit}`;
      explanations.set(attempt.attempt, `tried again: retry ${count} for ${verdict.class}${escalation}`);
    }
    if (decision.retry) used.escalationLevel = decision.escalationLevel;
  });
  return explanations;
}

function describeEscalation(retry: Retry, escalationLevel: number): string {
  const size = retry.escalate[escalationLevel];
  return typeof size === 'string' ? size : JSON.stringify(size);
}

function whyNot(failed: Failed, { retry, used }: { retry: Retry; used: number }): string {
  if (failed.permanent === true) return 'no retry can help';
  if (retry.limit === 0) return 'the step has no retry';
  if (!retry.on.includes(failed.class)) return `retry.on is for ${retry.on.join(', ')}, and this is ${failed.class}`;
  if (used >= retry.limit) return `all its retries (${retry.limit}) are used`;
  return `retry.exitCodes is for ${(retry.exitCodes ?? []).join(', ')}, and this is ${failed.exitCode ?? 'none'}`;
}
