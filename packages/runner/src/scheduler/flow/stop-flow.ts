import type { CancelReason } from '../model/command.ts';
import { CAUSE } from '../model/legal-moves.ts';
import { CODE, isLive } from '../model/state-code.ts';
import { setCancelReason } from '../state/cancel-reason.ts';
import { STEP } from '../state/plan-index.ts';
import { CAUSE_KIND, moveCell, PHASE, type RunState, STOP, stopServing } from '../state/run-state.ts';

/** Asks for the end of a live cell, once: the first reason stays. */
export function cancelCell(
  run: RunState,
  step: number,
  { cell, reason }: { cell: number; reason: CancelReason },
): void {
  const id = run.cellBase[step]! + cell;
  if (run.cells.cancel[id] !== 0) return;
  setCancelReason(run, id, reason);
  stopServing(run, id);
  run.out.push({ type: 'cancel', step, cell, attempt: run.cells.attempt[id]!, reason });
}

/** The end of whatever of the step has not started yet, when nothing of it may start any more; undefined while it may. */
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

/** Stops the cells of a step that have not been started; those that are live or publishing are left alone. */
export function stopStep(run: RunState, step: number, { to, kind }: { to: number; kind: number }): void {
  if (run.phase[step] === PHASE.over) return;
  const known = run.causeKind[step]!;
  if (known === CAUSE_KIND.none || known === CAUSE_KIND.dependency) run.causeKind[step] = kind;
  if (kind === CAUSE_KIND.failFast && run.causeStep[step] === -1) run.causeStep[step] = run.firstFailure;
  for (let cell = 0; cell < run.cellCount[step]!; cell++) {
    const id = run.cellBase[step]! + cell;
    const state = run.cells.state[id]!;
    if (state >= CODE.submitting && state !== CODE.backingOff && state !== CODE.awaitingApproval) continue;
    if (state === CODE.ready) run.queueDirty = true;
    const failed = kind === CAUSE_KIND.failFast ? run.cells.lastFailure[id]! : 0;
    moveCell(run, step, { cell, to: failed === 0 ? to : failed, cause: CAUSE.stopped });
  }
}

/** A failure stops the run: nothing new starts, what is live may end. */
export function failFast(run: RunState): void {
  run.stop = STOP.failFast;
  run.tripped = -1;
  for (let step = 0; step < run.index.stepCount; step++) {
    const flags = run.index.flags[step]!;
    const begun = run.phase[step] === PHASE.approval || run.phase[step] === PHASE.open;
    if (begun && (flags & (STEP.final | STEP.handlesFailure)) === 0) {
      stopStep(run, step, { to: CODE.skipped, kind: CAUSE_KIND.failFast });
    }
  }
}

/** Ends all steps of one kind, those of `finally` or the others: live cells are cancelled, the rest never starts. */
export function cancelSteps(
  run: RunState,
  { final, reason }: { final: boolean; reason: 'canceled' | 'runTimeout' },
): void {
  const kind = reason === 'canceled' ? CAUSE_KIND.canceled : CAUSE_KIND.runTimeout;
  for (let step = 0; step < run.index.stepCount; step++) {
    if (((run.index.flags[step]! & STEP.final) !== 0) !== final || run.phase[step] === PHASE.over) continue;
    if (run.phase[step] !== PHASE.waiting) stopStep(run, step, { to: CODE.canceled, kind });
    for (let cell = 0; cell < run.cellCount[step]!; cell++) {
      if (isLive(run.cells.state[run.cellBase[step]! + cell]!)) cancelCell(run, step, { cell, reason });
    }
  }
}

/** A service whose cells can no longer all get ready ends: otherwise those that are would run for ever. */
export function endBrokenServices(run: RunState): void {
  for (let step = run.brokenServices.pop(); step !== undefined; step = run.brokenServices.pop()) {
    if (run.phase[step] === PHASE.over) continue;
    run.needers[step] = 0;
    noLongerNeeded(run, step);
  }
}

/** The last dependent of a service is over: the service ends, or never starts. One that still waits is stopped when it is released. */
export function noLongerNeeded(run: RunState, step: number): void {
  if (run.phase[step] === PHASE.approval || run.phase[step] === PHASE.open) {
    stopStep(run, step, { to: CODE.skipped, kind: CAUSE_KIND.notNeeded });
  }
  for (let cell = 0; cell < run.cellCount[step]!; cell++) {
    if (isLive(run.cells.state[run.cellBase[step]! + cell]!)) cancelCell(run, step, { cell, reason: 'noLongerNeeded' });
  }
}
