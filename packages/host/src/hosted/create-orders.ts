import { createExclusion } from '../api/create-exclusion.ts';
import type { RunOrders } from '../api/run-api.ts';
import type { OrderParts } from './order-parts.ts';
import { describeRemoval, readRemoval, rejectRemoved } from './removed-runs.ts';
import { startOrderedRun, startRerun } from './start-ordered-run.ts';

/** Starts the runs of an account. Requests about one run are handled one after the other. */
export function createOrders(parts: OrderParts): RunOrders {
  const { home } = parts;
  const exclude = createExclusion();

  const unlessRemoved = <T>(runId: string, action: () => Promise<T>): Promise<T> =>
    exclude(runId, async () => {
      await rejectRemoved(home, runId);
      return action();
    });

  return {
    order: (runId, body) => unlessRemoved(runId, () => startOrderedRun(runId, { ...parts, body })),
    rerun: (runId, request) => unlessRemoved(runId, () => startRerun(runId, { ...parts, request })),
    exclude,
    async findRemoval(runId) {
      const removal = await readRemoval(home, runId);
      return removal && describeRemoval(runId, removal);
    },
  };
}
