import type { FailureReport, RunReport } from '@sluice/run';
import { label } from './render-event.ts';

/** The last failure of every cell that did not succeed, by `STEP/CELL`, in the order in which they ended. */
export function findFailures({ steps, failures }: RunReport): ReadonlyMap<string, FailureReport> {
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
  return last;
}
