import type { CellState } from '../model/cell-state.ts';
import { CAUSE } from '../model/legal-moves.ts';
import { CODE, FIRST_TERMINAL, stateName } from '../model/state-code.ts';
import type { WaitReason } from '../model/wait-reason.ts';
import { gateOf, hasEnded } from '../state/gates.ts';
import { countStale, moveCell } from '../state/move-cell.ts';
import { CAUSE_KIND, type RunState } from '../state/run-state.ts';
import { setFirstCause } from '../state/set-cause.ts';
import { heldUntil } from '../state/start-pace.ts';
import { findWaitReason } from '../view/find-wait-reason.ts';

/** An unfinished step of a stuck run, with the first of its unfinished cells. */
export interface HeldStep {
  readonly step: number;
  readonly cell: number;
  readonly state: CellState;
  /** Absent for a ready service, which runs and is needed by another held step. */
  readonly reason?: WaitReason;
}

const IN_FLIGHT = [
  CODE.checking,
  CODE.submitting,
  CODE.pending,
  CODE.running,
  CODE.publishing,
  CODE.awaitingApproval,
] as const;

/** See `Scheduler.stuck`. */
export function findStuck(run: RunState): readonly HeldStep[] | undefined {
  // Pending timeouts do not count: they could only end, much later, what cannot continue now.
  if (run.finished || !run.started || run.counts[CODE.backingOff]! > 0) return undefined;
  const inFlight = IN_FLIGHT.reduce((sum, code) => sum + run.counts[code]!, 0);
  if (inFlight > run.servingCells || run.openDecisions > 0 || heldUntil(run) !== undefined) return undefined;
  const held: HeldStep[] = [];
  for (let step = 0; step < run.index.stepCount; step++) {
    if (hasEnded(run, step)) continue;
    const cell = firstOpenCell(run, step);
    const state = stateName(run.cells.state[run.cellBase[step]! + cell]!);
    const reason = findWaitReason(run, step, cell);
    held.push(reason === undefined ? { step, cell, state } : { step, cell, state, reason });
  }
  return held;
}

/**
 * The event `stuck`: every cell that waits for capacity fails, because a retry would wait for the same capacity.
 * Services whose dependents have all ended then end by themselves, which frees capacity for `finally`.
 */
export function failHeld(run: RunState): void {
  if (findStuck(run) === undefined) {
    countStale(run);
    return;
  }
  if (run.counts[CODE.ready] === 0) throw new Error('the run cannot continue, and nothing in it waits for capacity');
  for (let step = 0; step < run.index.stepCount; step++) {
    if (hasEnded(run, step)) continue;
    for (let cell = 0; cell < run.cellCount[step]!; cell++) {
      const id = run.cellBase[step]! + cell;
      // A cell that waits for another item can start when that has failed.
      if (run.cells.state[id] !== CODE.ready || run.items?.blockedBy(step, cell) !== undefined) continue;
      if (!run.stuckReasons.has(step)) run.stuckReasons.set(step, findWaitReason(run, step, cell)!);
      setFirstCause(run, gateOf(run, step, cell), CAUSE_KIND.stuck);
      moveCell(run, step, { cell, to: run.cells.lastFailure[id]! || CODE.failed, cause: CAUSE.stopped });
    }
  }
}

function firstOpenCell(run: RunState, step: number): number {
  let cell = 0;
  while (run.cells.state[run.cellBase[step]! + cell]! >= FIRST_TERMINAL) cell++;
  return cell;
}
