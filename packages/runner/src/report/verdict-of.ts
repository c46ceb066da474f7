import type { AttemptFacts } from '../record/run-facts.ts';
import { attemptVerdict } from '../scheduler/flow/attempt-verdict.ts';
import type { CancelReason } from '../scheduler/model/command.ts';
import type { Outcome } from '../scheduler/model/event.ts';

/** The verdict on an attempt: a container that was canceled for its timeout counts as timed out; undefined if it has not ended. */
export function verdictOf({
  outcome,
  cancelReason,
}: Pick<AttemptFacts, 'outcome' | 'cancelReason'>): Outcome | undefined {
  return outcome && attemptVerdict(outcome, cancelReason as CancelReason | undefined);
}
