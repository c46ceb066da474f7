import { type FailureReport, groupFailures, type RunReport } from '@sluice/run';
import { label } from './render-event.ts';

/** Cells of a step that failed for the same reason. */
export interface FailureGroup {
  /** The first of them to fail. */
  readonly failure: FailureReport;
  /** `STEP/CELL` of the first; `STEP` of a plain step. */
  readonly name: string;
  readonly cellCount: number;
}

/** The last failures of all cells that did not succeed, by reason, in the order in which they ended. */
export function findFailures({ steps, failures }: RunReport): readonly FailureGroup[] {
  const unsuccessful = new Set(
    steps.flatMap(({ step: name, cells }) =>
      cells.filter(({ status }) => status !== 'succeeded').map(({ cell }) => label(name, cell)),
    ),
  );
  const last = new Map<string, FailureReport>();
  for (const failure of failures) {
    const name = label(failure.step, failure.cell);
    // The user who canceled the run expects its canceled containers.
    if (unsuccessful.has(name) && failure.status === 'failed') last.set(name, failure);
  }
  return groupFailures(last.values(), (failure) => failure).map(([failure, ...others]) => ({
    failure,
    name: label(failure.step, failure.cell),
    cellCount: 1 + others.length,
  }));
}

/** For example ` and 11 more cells`; empty for one cell. */
export function describeOthers({ cellCount }: FailureGroup): string {
  if (cellCount === 1) return '';
  return cellCount === 2 ? ' and 1 more cell' : ` and ${cellCount - 1} more cells`;
}
