import { isMatched, type PlannedStep } from '@sluice/core';
import { cellsMeant } from '../facts/listed-cells.ts';
import { answeredAtOf, type RunFacts } from '../facts/run-facts.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** When only capacity was missing for a cell, and when it ended; absent if it has not come so far. */
export interface CellTimes {
  readonly readyAt?: number;
  readonly endedAt?: number;
}

/** The times of all cells of a run, in milliseconds since the Unix epoch. */
export interface RunTimes {
  of(step: number, cell: number): CellTimes;
  /** The indexes of the step's cells. */
  cells(step: number): IterableIterator<number>;
  /** When the last cell of the step ended. */
  endedAt(step: number): number | undefined;
}

interface Run {
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
}

/** What the loop below has found so far. */
interface Found {
  readonly cells: CellTimes[][];
  readonly ended: (number | undefined)[];
  /** When the dependencies of a step had ended: the end of a step without containers, for those that depend on it. */
  readonly released: number[];
}

/**
 * Computes from a run's facts when each cell could have started, since the journal has no record of that. `levels` orders
 * the steps by their dependencies. An approval without a container ends with its answer.
 */
export function timeCells(run: Run, levels: readonly number[]): RunTimes {
  const { facts, scheduler } = run;
  const { plan } = facts;
  const found: Found = { cells: plan.steps.map(() => []), ended: [], released: [] };
  const { cells, ended } = found;
  let mainEnded = facts.startedAt;
  const order = [...plan.steps].sort(
    (a, b) => Number(a.final) - Number(b.final) || levels[a.index]! - levels[b.index]! || a.index - b.index,
  );
  for (const planned of order) {
    const { index, final, dependencies } = planned;
    const isOne = (on: number) => isMatched(planned, plan.steps[on]!);
    let released = final ? mainEnded : facts.startedAt;
    for (const { on } of dependencies)
      if (!isOne(on)) released = Math.max(released, ended[on] ?? found.released[on] ?? released);
    const matched = dependencies.filter(({ on }) => isOne(on));
    for (let cell = 0; cell < (scheduler.cellCount(index) ?? 0); cell++) {
      const own = matched.length === 0 ? released : releaseMatched(run, found, { planned, cell, released });
      const times = timeCell(run, { step: index, cell, released: own });
      cells[index]![cell] = times;
      if (times.endedAt !== undefined) ended[index] = Math.max(ended[index] ?? 0, times.endedAt);
    }
    for (const { on } of matched) released = Math.max(released, ended[on] ?? found.released[on] ?? released);
    found.released[index] = released;
    if (!final) mainEnded = Math.max(mainEnded, ended[index] ?? mainEnded);
  }
  return {
    of: (step, cell) => cells[step]?.[cell] ?? {},
    cells: (step) => (cells[step] ?? []).keys(),
    endedAt: (step) => ended[step],
  };
}

/** When the cells had ended that a cell of a step with axes depends on. */
function releaseMatched(
  { facts }: Run,
  { cells, released: before }: Found,
  { planned, cell, released }: { readonly planned: PlannedStep; readonly cell: number; readonly released: number },
): number {
  let latest = released;
  for (const dependency of planned.dependencies) {
    const { on } = dependency;
    if (!isMatched(planned, facts.plan.steps[on]!)) continue;
    for (const one of cellsMeant(facts, { step: planned.index, cell }, dependency)) {
      const { readyAt, endedAt = readyAt === undefined ? before[on] : undefined } = cells[on]![one] ?? {};
      latest = Math.max(latest, endedAt ?? latest);
    }
  }
  return latest;
}

function timeCell(
  run: Run,
  { step, cell, released }: { readonly step: number; readonly cell: number; readonly released: number },
): CellTimes {
  const { facts } = run;
  const { approval, image, command } = facts.plan.steps[step]!.step;
  const answeredAt = approval && answeredAtOf(facts, step, cell);
  if (approval && image === undefined && command === undefined) return timeApproval(run, { step, cell, released });
  const known = facts.known[step]?.[cell];
  const [first] = known?.attempts ?? [];
  const last = known?.attempts.at(-1);
  const requested = first?.askedAt ?? first?.submittedAt ?? first?.endedAt;
  const free = Math.max(released, answeredAt ?? released);
  const lookedUp = Math.max(free, known?.lookedUpAt ?? free);
  if (known?.cached) return { readyAt: Math.min(free, lookedUp), endedAt: lookedUp };
  if (requested === undefined) return {};
  const endedAt = last?.publishedAt ?? last?.endedAt;
  // A dependent of a service starts before the service ends.
  return { readyAt: Math.min(lookedUp, requested), ...(endedAt !== undefined && { endedAt }) };
}

/** It waits from the end of what it depends on until it is answered, canceled, or too late. */
function timeApproval(
  { facts, scheduler }: Run,
  { step, cell, released }: { readonly step: number; readonly cell: number; readonly released: number },
): CellTimes {
  const state = scheduler.state(step, cell);
  const { timeoutMs = 0 } = facts.plan.steps[step]!.step.approval!;
  const answeredAt = answeredAtOf(facts, step, cell);
  if (answeredAt !== undefined) return { readyAt: Math.min(released, answeredAt), endedAt: answeredAt };
  if (state === 'awaitingApproval') return { readyAt: released };
  if (state === 'timedOut') return { readyAt: released, endedAt: released + timeoutMs };
  const canceledAt = state === 'canceled' ? facts.canceledAt : undefined;
  return canceledAt === undefined || canceledAt < released ? {} : { readyAt: released, endedAt: canceledAt };
}
