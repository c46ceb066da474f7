import type { ReplayedRun } from '../facts/replay-files.ts';
import { statusOfStep } from '../report/status-of-cell.ts';
import type { DependencyExplanation } from '../schemas/explanation.ts';

/** What a step depends on, with the present status of each. */
export function explainDependencies(run: ReplayedRun, step: number): DependencyExplanation[] {
  const { steps } = run.facts.plan;
  return steps[step]!.dependencies.map(({ on, condition }) => ({
    step: steps[on]!.step.name,
    condition,
    ...statusOfStep(run, on),
  }));
}
