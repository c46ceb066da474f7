import type { CancelReason } from '../model/command.ts';
import { CAUSE } from '../model/legal-moves.ts';
import { CODE, isLive } from '../model/state-code.ts';
import { setCancelReason } from '../state/cancel-reason.ts';
import { moveCell, noteFailure, stopServing } from '../state/move-cell.ts';
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

/** The end state of the cells of a step that may no longer start; undefined if they may start. */
export function stopEnd(run: RunState, step: number): { to: number; kind: number } | undefined {
  const flags = run.index.flags[step]!;
  const final = (flags & STEP.final) !== 0;
  const stop = final ? (run.finalsCanceled ? STOP.canceled : STOP.none) : run.stop;
  if (stop === STOP.canceled) return { to: CODE.canceled, kind: CAUSE_KIND.canceled };
  if (stop === STOP.runTimeout) return { to: CODE.canceled, kind: CAUSE_KIND.runTimeout };
  if (run.needers[step] === 0) return { to: CODE.skipped, kind: CAUSE_KIND.notNeeded };
  const failed = !final && (stop === STOP.failFast || run.tripped >= 0);
  return failed && (flags & STEP.handlesFailure) === 0 ? { to: CODE.skipped, kind: CAUSE_KIND.failFast } : undefined;
}

/** Stops the unstarted cells of a step; live and publishing cells are left alone. */
export function stopStep(run: RunState, step: number, { to, kind }: { to: number; kind: number }): void {
  if (run.phase[step] === PHASE.ended) return;
  const known = run.causeKind[step]!;
  const isFirst = known === CAUSE_KIND.none || known === CAUSE_KIND.dependency;
  const hasRoot = kind !== CAUSE_KIND.failFast || run.causeStep[step] !== -1;
  setCause(run, step, { kind: isFirst ? kind : known, ...(!hasRoot && { root: run.firstFailure }) });
  for (let cell = 0; cell < run.cellCount[step]!; cell++) {
    const id = run.cellBase[step]! + cell;
    const state = run.cells.state[id]!;
    if (state >= CODE.submitting && state !== CODE.backingOff && state !== CODE.awaitingApproval) continue;
    const failed = kind === CAUSE_KIND.failFast ? run.cells.lastFailure[id]! : 0;
    moveCell(run, step, { cell, to: failed === 0 ? to : failed, cause: CAUSE.stopped });
  }
}

/** A failure stops the run: nothing new starts, live cells may finish. */
export function failFast(run: RunState): void {
  run.stop = STOP.failFast;
  for (let step = 0; step < run.index.stepCount; step++) {
    const flags = run.index.flags[step]!;
    const begun = run.phase[step] === PHASE.approval || run.phase[step] === PHASE.open;
    if (begun && (flags & (STEP.final | STEP.handlesFailure)) === 0) {
      stopStep(run, step, { to: CODE.skipped, kind: CAUSE_KIND.failFast });
    }
  }
}

/** Ends all steps of one kind, those of `finally` or the others: live cells are canceled, the others never start. */
function cancelSteps(run: RunState, { final, reason }: { final: boolean; reason: 'canceled' | 'runTimeout' }): void {
  const kind = reason === 'canceled' ? CAUSE_KIND.canceled : CAUSE_KIND.runTimeout;
  for (let step = 0; step < run.index.stepCount; step++) {
    if (((run.index.flags[step]! & STEP.final) !== 0) !== final || run.phase[step] === PHASE.ended) continue;
    if (run.phase[step] !== PHASE.waiting) stopStep(run, step, { to: CODE.canceled, kind });
    for (let cell = 0; cell < run.cellCount[step]!; cell++) {
      if (isLive(run.cells.state[run.cellBase[step]! + cell]!)) cancelCell(run, step, { cell, reason });
    }
  }
}

/**
 * The last dependent of a service has ended: the service ends, or never starts. A service that still waits is stopped
 * when it is released.
 */
export function noLongerNeeded(run: RunState, step: number): void {
  if (run.phase[step] === PHASE.approval || run.phase[step] === PHASE.open) {
    stopStep(run, step, { to: CODE.skipped, kind: CAUSE_KIND.notNeeded });
  }
  for (let cell = 0; cell < run.cellCount[step]!; cell++) {
    if (isLive(run.cells.state[run.cellBase[step]! + cell]!)) cancelCell(run, step, { cell, reason: 'noLongerNeeded' });
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
