import type { RunFacts } from '../facts/run-facts.ts';
import type { CriticalCell } from '../schemas/run-report.ts';
import type { RunTimes } from './cell-times.ts';

/** From the cell that ended last back through the dependency that ended last, and so on. In order of time. */
export function findCriticalPath(facts: RunFacts, times: RunTimes): CriticalCell[] {
  const { plan } = facts;
  const all = plan.steps.map(({ index }) => index);
  const mains = all.filter((index) => !plan.steps[index]!.final);
  const path: CriticalCell[] = [];
  const seen = new Set<number>();
  let step = latest(all, times);
  while (step !== undefined && !seen.has(step)) {
    seen.add(step);
    const found = describe(facts, step, times);
    if (!found) break;
    path.unshift(found);
    const { final, dependencies } = plan.steps[step]!;
    // A dependency that ended later than this step began is a service, for whose end it did not wait.
    const before = (final ? mains : dependencies.map(({ on }) => on)).filter(
      (on) => (times.endedAt(on) ?? Infinity) <= found.readyAt,
    );
    step = latest(before, times);
  }
  return path;
}

function latest(steps: readonly number[], times: RunTimes): number | undefined {
  let found: number | undefined;
  for (const step of steps) {
    const endedAt = times.endedAt(step);
    if (endedAt !== undefined && (found === undefined || endedAt > times.endedAt(found)!)) found = step;
  }
  return found;
}

/** The cell of the step that ended last. */
function describe(facts: RunFacts, step: number, times: RunTimes): CriticalCell | undefined {
  const cells = facts.cells[step] ?? [];
  const cell = cells.findIndex((_, index) => times.of(step, index).endedAt === times.endedAt(step));
  const { readyAt, endedAt } = times.of(step, cell);
  if (readyAt === undefined || endedAt === undefined) return undefined;
  const attempts = facts.known[step]?.[cell]?.attempts ?? [];
  const ran = attempts.reduce(
    (sum, attempt) =>
      sum +
      (attempt.runningAt === undefined || attempt.endedAt === undefined ? 0 : attempt.endedAt - attempt.runningAt),
    0,
  );
  const { name } = facts.plan.steps[step]!.step;
  return {
    step: name,
    cell: cells[cell]?.key ?? '',
    readyAt,
    endedAt,
    waitedMs: Math.max(0, endedAt - readyAt - ran),
  };
}
