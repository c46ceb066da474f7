import type { RunFacts } from '../facts/run-facts.ts';
import type { CriticalCell } from '../schemas/run-report.ts';
import type { RunTimes } from './cell-times.ts';
import { type CellPlace, findLastCell, traceCriticalPath } from './trace-critical-path.ts';

/** From the cell that ended last back through the dependency that ended last, and so on. In order of time. */
export function findCriticalPath(facts: RunFacts, times: RunTimes): CriticalCell[] {
  const last = findLastCell({ facts, times });
  if (last === undefined) return [];
  const until = times.of(last.step, last.cell).endedAt!;
  return traceCriticalPath({ facts, times }, { ...last, until }).flatMap((place) => {
    const { endedAt } = times.of(place.step, place.cell);
    // Otherwise a service, or a step that has not ended: what follows did not wait for its end.
    return endedAt !== undefined && endedAt <= place.until ? [describe(facts, place, { ...place, endedAt })] : [];
  });
}

function describe(
  facts: RunFacts,
  { step, cell }: CellPlace,
  { readyAt, endedAt }: { readonly readyAt: number; readonly endedAt: number },
): CriticalCell {
  const attempts = facts.known[step]?.[cell]?.attempts ?? [];
  const ran = attempts.reduce(
    (sum, attempt) =>
      sum +
      (attempt.runningAt === undefined || attempt.endedAt === undefined ? 0 : attempt.endedAt - attempt.runningAt),
    0,
  );
  return {
    step: facts.plan.steps[step]!.step.name,
    cell: facts.cells[step]?.[cell]?.key ?? '',
    readyAt,
    endedAt,
    waitedMs: Math.max(0, endedAt - readyAt - ran),
  };
}
