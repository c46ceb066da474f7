import type { RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** When only capacity was missing for a cell, and when it ended; absent if it has not come so far. */
export interface CellTimes {
  readonly readyAt?: number;
  readonly endedAt?: number;
}

/** The times of all cells of a run, in milliseconds since the Unix epoch. */
export interface RunTimes {
  of(step: number, cell: number): CellTimes;
  /** When the last cell of the step ended. */
  endedAt(step: number): number | undefined;
}

/**
 * Computes from a run's facts when each cell could have started, since the journal has no record of that. `levels` orders
 * the steps by their dependencies.
 */
export function timeCells(
  { facts, scheduler }: { facts: RunFacts; scheduler: Scheduler },
  levels: readonly number[],
): RunTimes {
  const { plan } = facts;
  const cells: CellTimes[][] = plan.steps.map(() => []);
  const ended: (number | undefined)[] = [];
  let mainEnded = facts.startedAt;
  const order = [...plan.steps].sort(
    (a, b) => Number(a.final) - Number(b.final) || levels[a.index]! - levels[b.index]! || a.index - b.index,
  );
  for (const { index, final, dependencies } of order) {
    let released = final ? mainEnded : facts.startedAt;
    for (const { on } of dependencies) released = Math.max(released, ended[on] ?? released);
    released = Math.max(released, facts.answeredAt.get(index) ?? released);
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++) {
      const times = timeCell(facts, { step: index, cell, released });
      cells[index]![cell] = times;
      if (times.endedAt !== undefined) ended[index] = Math.max(ended[index] ?? 0, times.endedAt);
    }
    if (!final) mainEnded = Math.max(mainEnded, ended[index] ?? mainEnded);
  }
  return { of: (step, cell) => cells[step]?.[cell] ?? {}, endedAt: (step) => ended[step] };
}

function timeCell(
  facts: RunFacts,
  { step, cell, released }: { step: number; cell: number; released: number },
): CellTimes {
  const known = facts.known[step]?.[cell];
  const [first] = known?.attempts ?? [];
  const last = known?.attempts.at(-1);
  const requested = first?.askedAt ?? first?.submittedAt ?? first?.endedAt;
  const lookedUp = Math.max(released, known?.lookedUpAt ?? released);
  if (known?.cached) return { readyAt: Math.min(released, lookedUp), endedAt: lookedUp };
  if (requested === undefined) return {};
  const endedAt = last?.publishedAt ?? last?.endedAt;
  // A dependent of a service starts before the service ends.
  return { readyAt: Math.min(lookedUp, requested), ...(endedAt !== undefined && { endedAt }) };
}
