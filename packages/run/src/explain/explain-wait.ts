import type { ReplayedRun } from '../facts/replay-files.ts';
import { describeWait } from '../report/explain-cell.ts';
import type { WaitReason } from '../scheduler/model/wait-reason.ts';
import type { HistoryLine, WaitExplanation } from '../schemas/explanation.ts';
import { advise, type SuggestCommand } from './advise.ts';

/** Why a cell waits; undefined if it does not. */
export function explainWait(
  run: ReplayedRun,
  {
    step,
    cell,
    history,
    suggest,
  }: { step: number; cell: number; history: readonly Pick<HistoryLine, 'at' | 'status'>[]; suggest: SuggestCommand },
): WaitExplanation | undefined {
  const reason = run.scheduler.waitReason(step, cell);
  if (!reason) return undefined;
  const startedAt = history.findLast(({ status }) => status !== undefined)?.at ?? run.facts.startedAt;
  const advice = advise(reason, { runId: run.runId, step: run.facts.plan.steps[step]!.step.name, suggest });
  return {
    ...pickDetails(reason),
    message: describeWait(reason),
    startedAt,
    ...(advice !== undefined && { advice }),
  };
}

/** The reason without its text, which is part of the message. */
function pickDetails(reason: WaitReason): Omit<WaitExplanation, 'message' | 'startedAt'> {
  if (reason.kind === 'backoff') return { kind: reason.kind, attempt: reason.attempt, dueAt: reason.until };
  if (reason.kind === 'postponed') return { kind: reason.kind, cause: reason.reason, dueAt: reason.until };
  return reason;
}
