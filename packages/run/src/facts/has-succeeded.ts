import type { Scheduler } from '../scheduler/scheduler.ts';
import { answeredAtOf, type CellFacts, type RunFacts } from './run-facts.ts';

/** The parts of a run that say whether a cell has succeeded. */
export interface SuccessSource {
  readonly facts: Pick<RunFacts, 'plan' | 'cells' | 'known' | 'answeredAt'>;
  readonly scheduler: Pick<Scheduler, 'state' | 'cellCount'>;
}

/**
 * Whether a cell has succeeded, in this run or in the one whose result it reuses. Throws if the run has no record of
 * how: such a cell may never have been executed, so no caller may take it for done.
 */
export function hasSucceeded(run: SuccessSource, step: number, cell: number): boolean {
  const state = run.scheduler.state(step, cell);
  if (state !== 'succeeded' && state !== 'cached') return false;
  if (isProven(run, { step, cell, isReused: state === 'cached' })) return true;
  const { name } = run.facts.plan.steps[step]!.step;
  const key = run.facts.cells[step]?.[cell]?.key;
  const cause = `${key ? `${name}/${key}` : name} counts as succeeded, but has no container, reused result or approval`;
  throw new Error(`${cause}; start a new run that reuses nothing of it`);
}

/** Checks every cell of a run; see `hasSucceeded`. */
export function checkSuccesses(run: SuccessSource): void {
  for (const { index } of run.facts.plan.steps) {
    for (let cell = 0; cell < (run.scheduler.cellCount(index) ?? 0); cell++) hasSucceeded(run, index, cell);
  }
}

function isProven(
  { facts, scheduler }: SuccessSource,
  { step, cell, isReused }: { readonly step: number; readonly cell: number; readonly isReused: boolean },
): boolean {
  const known = facts.known[step]?.[cell];
  if (isReused) return known?.cached !== undefined;
  const { approval, image, command, service } = facts.plan.steps[step]!.step;
  if (approval && image === undefined && command === undefined) return answeredAtOf(facts, step, cell) !== undefined;
  // A `foreach` over an empty list succeeds without a cell.
  if (scheduler.cellCount(step) === 0) return true;
  return hasWorked(known, service !== undefined);
}

/** A service is ended when it is no longer needed, also before it has a container. */
function hasWorked(known: CellFacts | undefined, isService: boolean): boolean {
  const attempts = known?.attempts ?? [];
  if (isService) return attempts.length > 0;
  return attempts.some(({ id, outcome }) => id !== undefined && outcome?.result === 'succeeded');
}
