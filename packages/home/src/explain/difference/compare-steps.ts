import { type ComparedStep, type ReplayedRun, stepIndex } from '@sluice/run';
import type { Clock } from '../../clock.ts';
import { explainStepDifference } from './explain-step-difference.ts';

/** Steps that are compared at once. */
const MAX_STEPS = 300;

/** The steps of two runs, compared one by one. */
export interface ComparedSteps {
  /** First those of `run` in their order, then those that only the other run has. */
  readonly steps: readonly ComparedStep[];
  /** The number of all steps of both runs; the first 300 are compared. */
  readonly total: number;
}

/** Which steps of a run differ from those of another one, and why. */
export async function compareSteps(run: ReplayedRun, other: ReplayedRun, clock?: Clock): Promise<ComparedSteps> {
  const { steps } = run.facts.plan;
  const removed = other.facts.plan.steps.filter(({ step }) => stepIndex(run.facts.plan, step.name) === undefined);
  const found: ComparedStep[] = [];
  for (const { step } of steps.slice(0, MAX_STEPS)) {
    const explained = await explainStepDifference({ run, other, step: step.name, ...(clock && { clock }) });
    if (!explained.ok) continue;
    const { groups, message, cellCount } = explained.value;
    const differentCount = groups.reduce((sum, one) => sum + (one.verdict === 'different' ? one.cellCount : 0), 0);
    found.push({ step: step.name, verdict: groups[0]?.verdict ?? 'unknown', message, cellCount, differentCount });
  }
  for (const { step, index } of removed.slice(0, MAX_STEPS - found.length)) {
    const message = `only run ${other.runId} has the step ${step.name}`;
    const cellCount = other.facts.cells[index]?.length ?? 0;
    found.push({ step: step.name, verdict: 'removed', message, cellCount, differentCount: 0 });
  }
  return { steps: found, total: steps.length + removed.length };
}
