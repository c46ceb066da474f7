import type { AttemptFacts } from '../record/run-facts.ts';
import { attemptVerdict } from '../scheduler/flow/attempt-verdict.ts';
import type { CancelReason } from '../scheduler/model/command.ts';
import type { Outcome } from '../scheduler/model/event.ts';

/** What the end of an attempt means: a container that was cancelled for its timeout has timed out, whatever the service calls it. */
export function verdictOf({
  outcome,
  cancelReason,
}: Pick<AttemptFacts, 'outcome' | 'cancelReason'>): Outcome | undefined {
  return outcome && attemptVerdict(outcome, cancelReason as CancelReason | undefined);
}
