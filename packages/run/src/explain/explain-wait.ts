import type { ReplayedRun } from '../facts/replay-files.ts';
import { describeWait } from '../report/explain-cell.ts';
import type { WaitReason } from '../scheduler/model/wait-reason.ts';
import { advise, type SuggestCommand } from './advise.ts';
import type { WaitDetails, WaitExplanation } from './step-explanation.ts';
import type { StoryLine } from './trace-cell.ts';

/** Why a cell waits; undefined if it does not. */
export function explainWait(
  run: ReplayedRun,
  {
    step,
    cell,
    story,
    suggest,
  }: { step: number; cell: number; story: readonly Pick<StoryLine, 'at' | 'status'>[]; suggest: SuggestCommand },
): WaitExplanation | undefined {
  const reason = run.scheduler.waitReason(step, cell);
  if (!reason) return undefined;
  const startedAt = story.findLast(({ status }) => status !== undefined)?.at ?? run.facts.startedAt;
  const advice = advise(reason, { runId: run.runId, step: run.facts.plan.steps[step]!.step.name, suggest });
  return {
    ...pickDetails(reason),
    message: describeWait(reason),
    startedAt,
    ...(advice !== undefined && { advice }),
  };
}

/** The reason without its text, which is part of the message. */
function pickDetails(reason: WaitReason): WaitDetails {
  if (reason.kind === 'backoff') return { kind: reason.kind, attempt: reason.attempt, dueAt: reason.until };
  if (reason.kind === 'postponed') return { kind: reason.kind, cause: reason.reason, dueAt: reason.until };
  return reason;
}
