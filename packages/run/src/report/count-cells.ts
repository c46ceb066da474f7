import type { RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { CellStatus } from '../schemas/statuses.ts';
import { describeState } from './status-of-cell.ts';

/** The number of cells of a run by status; a status without cells is absent. */
export function countCells({
  facts,
  scheduler,
}: {
  readonly facts: Pick<RunFacts, 'plan'>;
  readonly scheduler: Pick<Scheduler, 'cellCount' | 'state'>;
}): Partial<Record<CellStatus, number>> {
  const counts: Partial<Record<CellStatus, number>> = {};
  for (const { index } of facts.plan.steps) {
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++) {
      const { status } = describeState(scheduler.state(index, cell), () => false);
      counts[status] = (counts[status] ?? 0) + 1;
    }
  }
  return counts;
}
