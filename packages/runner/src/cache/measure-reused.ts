import { own } from '@sluice/core';
import type { KnownDurations } from '@sluice/home';
import { type ContextSource, measureAttempt, type ReplayedRun, stepIndex } from '@sluice/run';

/** How long the reused cells of a step ran when they were executed. */
export interface ReusedTime {
  /** The sum of what is known, in milliseconds. */
  readonly ms: number;
  /** The number of cells of which nothing is known. */
  readonly unknown: number;
}

interface Records {
  /** The run that is reused. */
  readonly earlier: ReplayedRun;
  /** Of the pipeline, for cells that other runs have executed. */
  readonly durations: KnownDurations;
}

/** Sums the recorded durations of the cells that a simulated run reuses, except those in `without`, by key. */
export function measureReused(
  { facts, scheduler, plan }: ContextSource,
  { step, without }: { readonly step: number; readonly without: ReadonlySet<string> },
  { earlier, durations }: Records,
): ReusedTime {
  let [ms, unknown] = [0, 0];
  const median = own(durations, plan.steps[step]!.step.name);
  const known = createCellIndex(earlier);
  for (let cell = 0; cell < (scheduler.cellCount(step) ?? 0); cell++) {
    const source = facts.known[step]?.[cell]?.cached;
    const isRestored = without.has(facts.cells[step]?.[cell]?.key ?? '');
    if (scheduler.state(step, cell) !== 'cached' || source === undefined || isRestored) continue;
    const ran = source.runId === earlier.runId ? known(source.step, source.cell) : undefined;
    if (ran === undefined && median === undefined) unknown += 1;
    else ms += ran ?? median ?? 0;
  }
  return { ms, unknown };
}

/** Gives the time of the attempt that succeeded, by step name and cell key. */
function createCellIndex({ facts }: ReplayedRun): (step: string, key: string) => number | undefined {
  const indexes = new Map<string, ReadonlyMap<string, number>>();
  return (step, key) => {
    const index = stepIndex(facts.plan, step);
    if (index === undefined) return undefined;
    const byKey = indexes.get(step) ?? new Map((facts.cells[index] ?? []).map((cell, at) => [cell.key, at]));
    indexes.set(step, byKey);
    const known = facts.known[index]?.[byKey.get(key) ?? -1];
    const winner = known?.attempts.find(({ attempt }) => attempt === known.winner) ?? known?.attempts.at(-1);
    return winner && measureAttempt(winner).ranMs;
  };
}
