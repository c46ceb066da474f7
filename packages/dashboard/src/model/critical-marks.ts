import type { RunDetails } from '@sluice/host';
import type { FoldedSteps } from './fold-steps.ts';

/** What of a run is on its critical path. */
export interface CriticalMarks {
  /** Indexes of the shown steps. */
  readonly steps: ReadonlySet<number>;
  /** Whether a cell is, by the names of its step and of itself. */
  readonly hasCell: (step: string, cell: string) => boolean;
}

/** The critical path among the shown steps of a run. */
export function findCriticalMarks({ criticalPath, plan }: RunDetails, { shownAs }: FoldedSteps): CriticalMarks {
  const cells = new Map(criticalPath.map(({ step, cell }) => [step, cell]));
  return {
    steps: new Set(plan.steps.flatMap(({ step: name }, step) => (cells.has(name) ? [shownAs[step]!] : []))),
    hasCell: (step, cell) => cells.get(step) === cell,
  };
}
