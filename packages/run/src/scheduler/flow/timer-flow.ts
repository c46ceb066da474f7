import { CAUSE } from '../model/legal-moves.ts';
import { CODE, FIRST_TERMINAL, isLive } from '../model/state-code.ts';
import { CELL } from '../state/cell-table.ts';
import { gateOf, hasEnded } from '../state/gates.ts';
import { addFlag, moveCell } from '../state/move-cell.ts';
import { CAUSE_KIND, PHASE, type RunState, STOP } from '../state/run-state.ts';
import { sendCommand } from '../state/send-command.ts';
import { setFirstCause } from '../state/set-cause.ts';
import { heldUntil } from '../state/start-pace.ts';
import type { Timer } from '../state/timers.ts';
import { endCells, makeReady } from './step-flow.ts';
import { cancelCell, passRunTimeout } from './stop-flow.ts';

/** Handles a `tick`: fires every timer that is due. */
export function fireTimers(run: RunState): void {
  run.wakeAt = Infinity;
  for (let timer = run.timers.next; timer !== undefined && timer.at <= run.now; timer = run.timers.next) {
    run.timers.pop();
    if (stillApplies(run, timer)) fire(run, timer);
  }
}

/** Requests a wake-up for the next valid timer, unless one is already requested for that time or earlier. */
export function requestWake(run: RunState): void {
  const { size } = run.timers;
  if (size > VOID_TIMERS && size > VOID_TIMERS + 4 * openCells(run))
    run.timers.retain((timer) => stillApplies(run, timer));
  let timer = run.timers.next;
  while (timer !== undefined && !stillApplies(run, timer)) {
    run.timers.pop();
    timer = run.timers.next;
  }
  const at = Math.min(timer?.at ?? Infinity, heldUntil(run) ?? Infinity);
  if (at >= run.wakeAt) return;
  run.wakeAt = at;
  sendCommand(run, { type: 'wake', at });
}

/** The run has finished: no wake-up is expected. */
export function forgetWake(run: RunState): void {
  run.wakeAt = Infinity;
}

/**
 * How many void timers are tolerated before they are removed together. A step that ends long before its timeout leaves
 * one.
 */
const VOID_TIMERS = 1024;

/** Bounds the number of valid timers: each cell in flight has at most a deadline and one more. */
function openCells(run: RunState): number {
  let open = 0;
  for (let code: number = CODE.ready; code < CODE.succeeded; code++) open += run.counts[code]!;
  return open;
}

/** Whether the timer still applies. */
function stillApplies(run: RunState, { at, kind, step, cell, attempt }: Timer): boolean {
  if (kind === 'runTimeout') return run.openMain > 0 && run.stop < STOP.runTimeout;
  if (hasEnded(run, step)) return false;
  if (kind === 'approval') return run.phase[gateOf(run, step, cell)] === PHASE.approval;
  const id = run.cellBase[step]! + cell;
  const state = run.cells.state[id]!;
  // Also while the attempt is being canceled or published: a failure after the deadline is not retried.
  if (kind === 'deadline') return state < FIRST_TERMINAL;
  // Capacity may have been freed early, and the cell postponed again until a later time.
  if (kind === 'due') return state === CODE.backingOff && at >= run.backOffs.get(id)!.until;
  if (attempt !== run.cells.attempt[id] || run.cells.cancel[id] !== 0) return false;
  return state === (kind === 'timeout' ? CODE.running : CODE.pending);
}

function fire(run: RunState, { kind, step, cell }: Timer): void {
  switch (kind) {
    case 'due':
      makeReady(run, step, { cell, cause: CAUSE.due });
      return;
    case 'approval':
      endCells(run, { step, cell }, { to: CODE.timedOut, cause: CAUSE.due });
      return;
    case 'runTimeout':
      passRunTimeout(run);
      return;
    case 'deadline':
      passDeadline(run, step, cell);
      return;
    default:
      cancelCell(run, step, { cell, reason: kind });
  }
}

function passDeadline(run: RunState, step: number, cell: number): void {
  const id = run.cellBase[step]! + cell;
  const state = run.cells.state[id]!;
  if (isLive(state) || state === CODE.publishing) {
    addFlag(run, id, CELL.expired);
    if (isLive(state)) cancelCell(run, step, { cell, reason: 'deadline' });
    return;
  }
  setFirstCause(run, gateOf(run, step, cell), CAUSE_KIND.deadline);
  moveCell(run, step, { cell, to: CODE.timedOut, cause: CAUSE.due });
}
