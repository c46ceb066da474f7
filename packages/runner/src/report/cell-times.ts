import type { RunFacts } from '../record/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** When nothing but room was missing for a cell any more, and when it was over; undefined where it never came so far. */
export interface CellTimes {
  readonly readyAt?: number;
  readonly overAt?: number;
}

export interface RunTimes {
  of(step: number, cell: number): CellTimes;
  /** When the last cell of the step was over. */
  overAt(step: number): number | undefined;
}

/**
 * Works out from a run's facts when each cell could have started: the journal has no line for that. `levels` orders the
 * steps by their dependencies.
 */
export function timeCells(
  { facts, scheduler }: { facts: RunFacts; scheduler: Scheduler },
  levels: readonly number[],
): RunTimes {
  const { plan } = facts;
  const cells: CellTimes[][] = plan.steps.map(() => []);
  const over: (number | undefined)[] = [];
  let mainOver = facts.startedAt;
  const order = [...plan.steps].sort(
    (a, b) => Number(a.final) - Number(b.final) || levels[a.index]! - levels[b.index]! || a.index - b.index,
  );
  for (const { index, final, dependencies } of order) {
    let released = final ? mainOver : facts.startedAt;
    for (const { on } of dependencies) released = Math.max(released, over[on] ?? released);
    released = Math.max(released, facts.answeredAt.get(index) ?? released);
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++) {
      const times = timeCell(facts, { step: index, cell, released });
      cells[index]![cell] = times;
      if (times.overAt !== undefined) over[index] = Math.max(over[index] ?? 0, times.overAt);
    }
    if (!final) mainOver = Math.max(mainOver, over[index] ?? mainOver);
  }
  return { of: (step, cell) => cells[step]?.[cell] ?? {}, overAt: (step) => over[step] };
}

function timeCell(
  facts: RunFacts,
  { step, cell, released }: { step: number; cell: number; released: number },
): CellTimes {
  const known = facts.known[step]?.[cell];
  const [first] = known?.attempts ?? [];
  const last = known?.attempts.at(-1);
  const asked = first?.askedAt ?? first?.submittedAt ?? first?.endedAt;
  const looked = Math.max(released, known?.lookedUpAt ?? released);
  if (known?.cached) return { readyAt: Math.min(released, looked), overAt: looked };
  if (asked === undefined) return {};
  const overAt = last?.publishedAt ?? last?.endedAt;
  // A dependent of a service starts while that one still runs.
  return { readyAt: Math.min(looked, asked), ...(overAt !== undefined && { overAt }) };
}
