import { CAUSE } from '../model/legal-moves.ts';
import { CODE, FIRST_TERMINAL, isLive } from '../model/state-code.ts';
import { CELL } from '../state/cell-table.ts';
import { addFlag, moveCell } from '../state/move-cell.ts';
import { CAUSE_KIND, PHASE, type RunState, STOP } from '../state/run-state.ts';
import { sendCommand } from '../state/send-command.ts';
import { setFirstCause } from '../state/set-cause.ts';
import { heldUntil } from '../state/start-pace.ts';
import type { Timer } from '../state/timers.ts';
import { endCells, makeReady } from './step-flow.ts';
import { cancelCell, passRunTimeout } from './stop-flow.ts';

/** A `tick` has come: acts on everything whose time is not after `now`. */
export function fireTimers(run: RunState): void {
  run.wakeAt = Infinity;
  for (let timer = run.timers.next; timer !== undefined && timer.at <= run.now; timer = run.timers.next) {
    run.timers.pop();
    if (isMeant(run, timer)) fire(run, timer);
  }
}

/** Asks for a wake-up at the next time that still means something, unless one is asked for that comes no later. */
export function askWake(run: RunState): void {
  if (run.timers.size > VOID_TIMERS + 4 * openCells(run)) run.timers.retain((timer) => isMeant(run, timer));
  let timer = run.timers.next;
  while (timer !== undefined && !isMeant(run, timer)) {
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

/** So many timers may be void before they are thrown away together: steps that end long before their timeout leave one each. */
const VOID_TIMERS = 1024;

/** Bounds the timers that can mean something: each cell under way has at most a deadline and one more. */
function openCells(run: RunState): number {
  let open = 0;
  for (let code: number = CODE.ready; code < CODE.succeeded; code++) open += run.counts[code]!;
  return open;
}

/** Whether what the timer was set for still is the case. */
function isMeant(run: RunState, { at, kind, step, cell, attempt }: Timer): boolean {
  if (kind === 'runTimeout') return run.openMain > 0 && run.stop < STOP.runTimeout;
  if (run.phase[step] === PHASE.over) return false;
  if (kind === 'approval') return run.phase[step] === PHASE.approval;
  const id = run.cellBase[step]! + cell;
  const state = run.cells.state[id]!;
  // Also while the attempt is being canceled or published: what fails after the deadline is not tried again.
  if (kind === 'deadline') return state < FIRST_TERMINAL;
  // A cell for which room was freed before its time may have been put off again meanwhile, until later.
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
      endCells(run, step, { to: CODE.timedOut, cause: CAUSE.due });
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
  setFirstCause(run, step, CAUSE_KIND.deadline);
  moveCell(run, step, { cell, to: CODE.timedOut, cause: CAUSE.due });
}
