import type { CellState } from './cell-state.ts';
import { PHASE, type RunState } from './run-state.ts';
import { CODE, FIRST_TERMINAL, stateName } from './state-code.ts';
import { type WaitReason, waitReason } from './wait-reason.ts';

/** A step of a stuck run that is not over, with the first of its cells that is not. */
export interface HeldStep {
  readonly step: number;
  readonly cell: number;
  readonly state: CellState;
  /** Absent for a ready service, which runs and is needed by another held step. */
  readonly reason?: WaitReason;
}

const UNDER_WAY = [
  CODE.checking,
  CODE.submitting,
  CODE.pending,
  CODE.running,
  CODE.publishing,
  CODE.awaitingApproval,
] as const;

/** See `Scheduler.stuck`. */
export function findStuck(run: RunState): readonly HeldStep[] | undefined {
  if (run.finished || !run.started || run.wakeAt < Infinity) return undefined;
  const underWay = UNDER_WAY.reduce((sum, code) => sum + run.counts[code]!, 0);
  if (underWay > run.servingCells || run.openDecisions > 0) return undefined;
  const held: HeldStep[] = [];
  for (let step = 0; step < run.index.stepCount; step++) {
    if (run.phase[step] === PHASE.over) continue;
    const cell = firstOpenCell(run, step);
    const state = stateName(run.cells.state[run.cellBase[step]! + cell]!);
    const reason = waitReason(run, step, cell);
    held.push(reason === undefined ? { step, cell, state } : { step, cell, state, reason });
  }
  return held;
}

function firstOpenCell(run: RunState, step: number): number {
  let cell = 0;
  while (run.cells.state[run.cellBase[step]! + cell]! >= FIRST_TERMINAL) cell++;
  return cell;
}
