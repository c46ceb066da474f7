import type { ReplayedRun } from '../facts/replay-files.ts';
import { wholeStatus } from '../report/cell-status.ts';
import type { DependencyExplanation } from './step-explanation.ts';

/** What a step depends on, with the present status of each. */
export function explainDependencies(run: ReplayedRun, step: number): DependencyExplanation[] {
  const { steps } = run.facts.plan;
  return steps[step]!.dependencies.map(({ on, condition }) => ({
    step: steps[on]!.step.name,
    condition,
    ...wholeStatus(run, on),
  }));
}
