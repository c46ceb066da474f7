import { verdictOf } from '@sluice/run';
import type { RunSession } from '../session/run-session.ts';

/**
 * How long the next attempt of a cell will probably run, in milliseconds: as long as the step did in earlier runs, and longer
 * than an attempt of this cell that ended with its allocation. Undefined if nothing is known.
 */
export function expectedDuration(
  { facts, plan, scheduler }: Pick<RunSession, 'facts' | 'plan' | 'scheduler'>,
  at: { readonly step: number; readonly cell: number },
): number | undefined {
  const known = scheduler.expectedMs(plan.steps[at.step]!.step.name);
  const attempts = facts.known[at.step]?.[at.cell]?.attempts ?? [];
  const cut = attempts.flatMap((attempt) => {
    const verdict = verdictOf(attempt);
    if (verdict?.result !== 'failed' || verdict.isFree !== true) return [];
    return attempt.runningAt === undefined || attempt.endedAt === undefined
      ? []
      : [attempt.endedAt - attempt.runningAt];
  });
  const expected = Math.max(known ?? 0, ...cut);
  return expected > 0 ? expected : undefined;
}
