import type { RunFacts } from '../record/run-facts.ts';
import type { RunTimes } from './cell-times.ts';

/** One cell of the chain that the run's length came from. */
export interface CriticalCell {
  readonly step: string;
  readonly cell: string;
  /** When it could have started, and when it was over. */
  readonly from: number;
  readonly to: number;
  /** Of that, milliseconds in which no container of it ran. */
  readonly waited: number;
}

/** From the cell that was over last, back through whatever it waited for longest. In order of time. */
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
    // A dependency that was over later than this began is a service, which it did not wait for.
    const before = (final ? mains : dependencies.map(({ on }) => on)).filter(
      (on) => (times.overAt(on) ?? Infinity) <= found.from,
    );
    step = latest(before, times);
  }
  return path;
}

function latest(steps: readonly number[], times: RunTimes): number | undefined {
  let found: number | undefined;
  for (const step of steps) {
    const over = times.overAt(step);
    if (over !== undefined && (found === undefined || over > times.overAt(found)!)) found = step;
  }
  return found;
}

/** The cell of the step that was over last. */
function describe(facts: RunFacts, step: number, times: RunTimes): CriticalCell | undefined {
  const cells = facts.cells[step] ?? [];
  const cell = cells.findIndex((_, index) => times.of(step, index).overAt === times.overAt(step));
  const { readyAt, overAt } = times.of(step, cell);
  if (readyAt === undefined || overAt === undefined) return undefined;
  const attempts = facts.known[step]?.[cell]?.attempts ?? [];
  const ran = attempts.reduce(
    (sum, { runningAt, endedAt }) => sum + (runningAt === undefined || endedAt === undefined ? 0 : endedAt - runningAt),
    0,
  );
  const { name } = facts.plan.steps[step]!.step;
  return {
    step: name,
    cell: cells[cell]?.key ?? '',
    from: readyAt,
    to: overAt,
    waited: Math.max(0, overAt - readyAt - ran),
  };
}
