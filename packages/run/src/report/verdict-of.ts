import type { AttemptFacts } from '../facts/run-facts.ts';
import { attemptVerdict } from '../scheduler/flow/attempt-verdict.ts';
import type { CancelReason } from '../scheduler/model/command.ts';
import type { Outcome } from '../scheduler/model/event.ts';
import { addFullDisk } from './find-space-hint.ts';

/**
 * The verdict on an attempt: a container that was canceled for its timeout counts as timed out; undefined if it has not
 * ended. The message tells what is known besides: why a service was not ready, and that a disk was full.
 */
export function verdictOf({
  outcome,
  cancelReason,
  notReady,
  logTail = [],
}: Pick<AttemptFacts, 'outcome' | 'cancelReason' | 'notReady' | 'logTail'>): Outcome | undefined {
  const verdict = outcome && attemptVerdict(outcome, cancelReason as CancelReason | undefined);
  if (verdict?.result !== 'failed') return verdict;
  if (cancelReason === 'notReady' && notReady !== undefined) return { ...verdict, message: notReady };
  const hasExited = verdict.class === 'failed' && verdict.exitCode !== undefined;
  return hasExited ? { ...verdict, message: addFullDisk(verdict.message, logTail) } : verdict;
}
