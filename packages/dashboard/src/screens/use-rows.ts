import { useMemo } from 'preact/hooks';
import type { PlanSteps } from '../layout/plan-shape.ts';
import { failedFirst } from '../model/failed-first.ts';
import { orderSteps } from '../model/order-steps.ts';
import { countsOf, type RunModel } from '../model/run-model.ts';
import { FAILED } from '../model/statuses.ts';
import type { Selection } from '../parts/timeline-row.tsx';

interface RowsOptions {
  readonly steps: PlanSteps;
  readonly model: RunModel;
  /** For each step 1, or 0 without a row. */
  readonly shown: Uint8Array;
  /** The steps that are shown with their cells. */
  readonly expanded: ReadonlyMap<number, number>;
}

/** The shown steps by their column in the graph, each followed by its cells if it is expanded: first those that failed. */
export function useRows({ steps, model, shown, expanded }: RowsOptions): readonly Selection[] {
  const order = useMemo(() => orderSteps(steps), [steps]);
  // The order of the cells changes only with their failures.
  const failed = [...expanded.keys()].map((step) => countsOf(model, step)[FAILED]).join();
  return useMemo(
    () =>
      order.flatMap((step): Selection | Selection[] => {
        if (shown[step] === 0) return [];
        // Most runs have many steps of which none is expanded.
        if (!expanded.has(step)) return { step };
        return [{ step }, ...failedFirst(model.cells[step]!).map((cell) => ({ step, cell }))];
      }),
    [order, shown, expanded, model, failed],
  );
}
