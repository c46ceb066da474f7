import type { CancelReason } from '../model/command.ts';
import { CAUSE } from '../model/legal-moves.ts';
import { CODE, isLive } from '../model/state-code.ts';
import { setCancelReason } from '../state/cancel-reason.ts';
import { cellsBehind, gateCount, gateOf, hasEnded } from '../state/gates.ts';
import { moveCell, noteFailure, stopServing, takeExceeded } from '../state/move-cell.ts';
import { STEP } from '../state/plan-index.ts';
import { CAUSE_KIND, PHASE, type RunState, STOP } from '../state/run-state.ts';
import { sendCommand } from '../state/send-command.ts';
import { setCause } from '../state/set-cause.ts';

/** Requests the end of a live cell, once: the first reason stays. */
export function cancelCell(
  run: RunState,
  step: number,
  { cell, reason }: { cell: number; reason: CancelReason },
): void {
  const id = run.cellBase[step]! + cell;
  if (run.cells.cancel[id] !== 0) return;
  setCancelReason(run, id, reason);
  stopServing(run, id);
  sendCommand(run, { type: 'cancel', step, cell, attempt: run.cells.attempt[id]!, reason });
}

/** The end state of a cell that may no longer start; undefined if it may start. */
export function stopEnd(run: RunState, step: number, cell: number): { to: number; kind: number } | undefined {
  const flags = run.index.flags[step]!;
  const final = (flags & STEP.final) !== 0;
  const stop = final ? (run.finalsCanceled ? STOP.canceled : STOP.none) : run.stop;
  if (stop === STOP.canceled) return { to: CODE.canceled, kind: CAUSE_KIND.canceled };
  if (stop === STOP.runTimeout) return { to: CODE.canceled, kind: CAUSE_KIND.runTimeout };
  if (run.needers[gateOf(run, step, cell)] === 0) return { to: CODE.skipped, kind: CAUSE_KIND.notNeeded };
  if (run.exceeded[step] === 1) return { to: CODE.skipped, kind: CAUSE_KIND.tolerance };
  const failed = !final && (stop === STOP.failFast || run.tripped >= 0);
  return failed && (flags & STEP.handlesFailure) === 0 ? { to: CODE.skipped, kind: CAUSE_KIND.failFast } : undefined;
}

/** A gate, by a cell behind it. */
export interface Gate {
  readonly step: number;
  readonly cell: number;
}

/** Stops the unstarted cells of a gate; live and publishing cells are left alone. */
export function stopGate(run: RunState, { step, cell }: Gate, { to, kind }: { to: number; kind: number }): void {
  const gate = gateOf(run, step, cell);
  if (run.phase[gate] === PHASE.ended) return;
  const known = run.causeKind[gate]!;
  const isFirst = known === CAUSE_KIND.none || known === CAUSE_KIND.dependency;
  const hasRoot = kind !== CAUSE_KIND.failFast || run.causeStep[gate] !== -1;
  setCause(run, gate, { kind: isFirst ? kind : known, ...(!hasRoot && { root: run.firstFailure }) });
  const { first, end } = cellsBehind(run, step, cell);
  for (let one = first; one < end; one++) {
    const id = run.cellBase[step]! + one;
    const state = run.cells.state[id]!;
    if (state >= CODE.submitting && state !== CODE.backingOff && state !== CODE.awaitingApproval) continue;
    const failed = isAfterFailure(kind) ? run.cells.lastFailure[id]! : 0;
    moveCell(run, step, { cell: one, to: failed === 0 ? to : failed, cause: CAUSE.stopped });
  }
}

/** Whether the cells are stopped because of other failures, so that their own count as well. */
export function isAfterFailure(kind: number): boolean {
  return kind === CAUSE_KIND.failFast || kind === CAUSE_KIND.tolerance;
}

/** Stops the gates of a step that are in one of these phases. */
function stopGates(
  run: RunState,
  step: number,
  { phases, ...end }: { phases: readonly number[]; to: number; kind: number },
): void {
  const first = run.gateBase[step]!;
  for (let cell = 0; cell < gateCount(run, step); cell++)
    if (phases.includes(run.phase[first + cell]!)) stopGate(run, { step, cell }, end);
}

/** The phases of a gate that has been released, and decided. */
const OPENED: readonly number[] = [PHASE.approval, PHASE.open];
const RELEASED = [PHASE.deciding, ...OPENED];

/** A failure stops the run: nothing new starts, live cells may finish. */
export function failFast(run: RunState): void {
  run.stop = STOP.failFast;
  for (let step = 0; step < run.index.stepCount; step++) {
    const flags = run.index.flags[step]!;
    if ((flags & (STEP.final | STEP.handlesFailure)) !== 0 || hasEnded(run, step)) continue;
    stopGates(run, step, { phases: OPENED, to: CODE.skipped, kind: CAUSE_KIND.failFast });
  }
}

/** More cells have failed than their steps tolerate: no further ones start, live cells may finish. */
export function stopExceeded(run: RunState): void {
  for (let step = takeExceeded(run); step !== undefined; step = takeExceeded(run))
    stopGates(run, step, { phases: OPENED, to: CODE.skipped, kind: CAUSE_KIND.tolerance });
}

/** Ends all steps of one kind, those of `finally` or the others: live cells are canceled, the others never start. */
function cancelSteps(run: RunState, { final, reason }: { final: boolean; reason: 'canceled' | 'runTimeout' }): void {
  const kind = reason === 'canceled' ? CAUSE_KIND.canceled : CAUSE_KIND.runTimeout;
  for (let step = 0; step < run.index.stepCount; step++) {
    if (((run.index.flags[step]! & STEP.final) !== 0) !== final || hasEnded(run, step)) continue;
    stopGates(run, step, { phases: RELEASED, to: CODE.canceled, kind });
    for (let cell = 0; cell < run.cellCount[step]!; cell++) {
      if (isLive(run.cells.state[run.cellBase[step]! + cell]!)) cancelCell(run, step, { cell, reason });
    }
  }
}

/**
 * The last user of a service, or of one cell of it, has ended: its cells end, or never start. Those that still wait are
 * stopped when they are released.
 */
export function noLongerNeeded(run: RunState, { step, cell }: Gate): void {
  if (OPENED.includes(run.phase[gateOf(run, step, cell)]!))
    stopGate(run, { step, cell }, { to: CODE.skipped, kind: CAUSE_KIND.notNeeded });
  const { first, end } = cellsBehind(run, step, cell);
  for (let one = first; one < end; one++) {
    if (isLive(run.cells.state[run.cellBase[step]! + one]!))
      cancelCell(run, step, { cell: one, reason: 'noLongerNeeded' });
  }
}

/** The first request ends all steps except `finally`; the second ends `finally` too. */
export function cancelRun(run: RunState): void {
  run.cancelRequests++;
  if (run.cancelRequests === 1) {
    run.stop = STOP.canceled;
    cancelSteps(run, { final: false, reason: 'canceled' });
  } else {
    run.finalsCanceled = true;
    cancelSteps(run, { final: true, reason: 'canceled' });
  }
}

/** The timeout of the run has passed. */
export function passRunTimeout(run: RunState): void {
  run.stop = STOP.runTimeout;
  noteFailure(run);
  cancelSteps(run, { final: false, reason: 'runTimeout' });
}
