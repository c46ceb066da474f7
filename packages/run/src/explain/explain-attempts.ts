import type { ReplayedRun } from '../facts/replay-files.ts';
import { outlineAttempt } from '../report/attempt-outline.ts';
import { describeFailure } from '../report/describe-failure.ts';
import { TERMINAL_CELL_STATES } from '../scheduler/model/cell-state.ts';
import type { AttemptExplanation } from '../schemas/attempt.ts';
import { explainRetries } from './explain-retries.ts';

/** The attempts of a cell, oldest first, each with what was decided after it. */
export function explainAttempts(run: ReplayedRun, step: number, cell: number): AttemptExplanation[] {
  const attempts = run.facts.known[step]?.[cell]?.attempts ?? [];
  const isFinished = TERMINAL_CELL_STATES.has(run.scheduler.state(step, cell));
  const retries = explainRetries(attempts, {
    ...run.facts.plan.steps[step]!.step,
    ...run.scheduler.values(step, cell),
    isFinished,
  });
  return attempts.map((attempt) => {
    const retry = retries.get(attempt.attempt);
    const outline = outlineAttempt(attempt);
    return {
      ...outline,
      ...(attempt.postponed && { postponed: { times: attempt.postponed.times, cause: attempt.postponed.reason } }),
      ...(outline.status === 'failed' && { failure: describeFailure(run, { step, cell, attempt: attempt.attempt }) }),
      ...(retry !== undefined && { retry }),
    };
  });
}
