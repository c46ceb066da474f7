import { toleratedFailures } from '@sluice/core';
import { CAUSES, isLegal } from '../model/legal-moves.ts';
import { CODE, FIRST_TERMINAL, isFailed, isLive, stateName } from '../model/state-code.ts';
import { CELL } from './cell-table.ts';
import { countedCells, gateOf, hasEnded } from './gates.ts';
import { IllegalMove } from './illegal-move.ts';
import { laneOfCell, STEP } from './plan-index.ts';
import { cellOfKey, PHASE, type RunState, STOP, type WaitForTime } from './run-state.ts';

interface CellMove {
  readonly cell: number;
  readonly to: number;
  readonly cause: number;
  /** Required for a move to `backingOff`. */
  readonly wait?: WaitForTime;
}

/** The only place that changes a cell's state: checks the move, and updates counts, limits and the history. */
export function moveCell(run: RunState, step: number, move: CellMove): void {
  const id = run.cellBase[step]! + move.cell;
  const { to, cause } = move;
  const from = run.cells.state[id]!;
  if (!isLegal(from, cause, to)) throw illegalMove(run, step, move);
  if (from === to) return;
  run.cells.state[id] = to;
  run.counts[from]!--;
  run.counts[to]!++;
  run.onMove?.(step, move.cell);
  run.history.add(id, { at: run.now, from, to, cause, attempt: run.cells.attempt[id]! });
  if (from === CODE.backingOff) run.backOffs.delete(id);
  if (to === CODE.backingOff && move.wait) run.backOffs.set(id, move.wait);
  // The queue itself removes only the cells that it picks.
  if (from === CODE.ready && to !== CODE.submitting) run.queueDirty = true;
  if (isLive(from) && !isLive(to)) {
    run.queue.release(laneOfCell(run.index, step, move.cell));
    if ((run.cells.flags[id]! & CELL.serving) !== 0) stopServing(run, id);
  }
  if (to >= FIRST_TERMINAL) cellOver(run, step, { cell: move.cell, state: to });
}

function cellOver(run: RunState, step: number, { cell, state }: { cell: number; state: number }): void {
  const flags = run.index.flags[step]!;
  const batches = run.batches[step];
  // One that stood for an empty list is no cell.
  if (batches?.sizeOf(batches.batchOf(cell)) !== 0) run.seen[step]! |= 1 << state;
  const hasRun = (run.cells.flags[run.cellBase[step]! + cell]! & CELL.ran) !== 0;
  const isService = (flags & STEP.service) !== 0;
  if (isService && (flags & STEP.each) === 0 && !hasRun) run.brokenServices.push(step);
  const isCounted = (flags & STEP.each) !== 0 && (isService || (flags & STEP.usesService) !== 0);
  if (isCounted || (flags & STEP.matched) !== 0) run.endedCells.push({ step, cell, state, hasRun });
  run.items?.countEnd(step, cell);
  run.openCells[step]!--;
  if ((flags & STEP.each) !== 0 || hasEnded(run, step)) setPhase(run, gateOf(run, step, cell), PHASE.ended);
  if (hasEnded(run, step)) run.ended.push(step);
  if (batches !== undefined && batches.sizeOf(batches.batchOf(cell)) === undefined) noteListed(run, step, 1);
  if (isFailure(run, state)) {
    run.failures[step]!++;
    judgeFailures(run, step);
  }
}

/** The list that a cell of a step stood for is known, with so many items, or never will be. */
export function noteListed(run: RunState, step: number, size: number): void {
  run.unlisted[step]!--;
  if (size === 0) run.emptied[step]!++;
  if (run.failures[step]! > 0) judgeFailures(run, step);
}

/** Failures that the step does not tolerate are those of the run. Beyond a limit, no further cells of the step start. */
function judgeFailures(run: RunState, step: number): void {
  const { continueOnError } = run.plan.steps[step]!.step;
  // A share of all cells, of which some are not known yet.
  if (typeof continueOnError === 'string' && run.unlisted[step]! > 0) return;
  if (run.failures[step]! <= toleratedFailures(continueOnError, countedCells(run, step))) return;
  noteFailure(run);
  if (run.firstFailure < 0) run.firstFailure = step;
  const stops = run.plan.pipeline.failFast && run.stop === STOP.none && run.tripped < 0;
  if (stops && (run.index.flags[step]! & STEP.final) === 0) run.tripped = step;
  if (continueOnError === false || run.exceeded[step] === 1) return;
  run.exceeded[step] = 1;
  run.newlyExceeded.push(step);
}

/** A cancellation that was not requested in this run is a failure; a requested one is not. */
function isFailure(run: RunState, state: number): boolean {
  return isFailed(state) || (state === CODE.canceled && run.stop < STOP.runTimeout);
}

/** The run has failed, whatever else happens. */
export function noteFailure(run: RunState): void {
  run.failed = true;
}

/** Moves a gate to another phase. */
export function setPhase(run: RunState, gate: number, phase: number): void {
  if (run.phase[gate] === PHASE.deciding) run.openDecisions--;
  if (phase === PHASE.deciding) run.openDecisions++;
  run.phase[gate] = phase;
}

/** A step whose axes have no items ends without a cell. */
export function endEmptyStep(run: RunState, step: number): void {
  run.ended.push(step);
}

/** Sets a flag of a cell. */
export function addFlag(run: RunState, id: number, flag: number): void {
  run.cells.flags[id]! |= flag;
}

/** The service's cell is ready, and will not end by itself. */
export function startServing(run: RunState, id: number): void {
  if ((run.cells.flags[id]! & CELL.serving) !== 0) return;
  run.cells.flags[id]! |= CELL.serving;
  run.servingCells++;
}

/** The service's cell has ended, or its end was requested. */
export function stopServing(run: RunState, id: number): void {
  if ((run.cells.flags[id]! & CELL.serving) === 0) return;
  run.cells.flags[id]! &= ~CELL.serving;
  run.servingCells--;
}

/** Counts an answer that was late, or for another attempt: it changes nothing. */
export function countStale(run: RunState): void {
  run.staleAnswers++;
}

/** Removes and returns the next service of which a cell ended before it was ready. */
export function takeBrokenService(run: RunState): number | undefined {
  return run.brokenServices.pop();
}

/** Removes and returns the next step of which more cells have failed than it tolerates. */
export function takeExceeded(run: RunState): number | undefined {
  return run.newlyExceeded.pop();
}

/** Every ended step and cell has been resolved. */
export function clearEnded(run: RunState): void {
  // Most events end nothing, and to set a length takes longer than to handle one of them.
  if (run.ended.length > 0) run.ended.length = 0;
  if (run.endedCells.length > 0) run.endedCells.length = 0;
}

/** Removes stopped cells from the ready queue; all at once, since removing one costs as much. */
export function dropStopped(run: RunState): void {
  if (!run.queueDirty) return;
  run.queueDirty = false;
  run.queue.retain((key) => {
    const { step, cell } = cellOfKey(run.index, key);
    return run.cells.state[run.cellBase[step]! + cell] === CODE.ready;
  });
}

/** Throws for a step or cell that the run does not have, as in an event that belongs to another run. */
export function checkCell(run: RunState, step: number, cell: number): void {
  if (cell >= 0 && cell < (run.cellCount[step] ?? 0)) return;
  throw new IllegalMove(`cannot use cell ${cell} of step ${step}: the run has no such cell`, []);
}

/** The error for an event that is impossible now. */
export function illegalMove(
  run: RunState,
  step: number,
  { cell, cause, to }: { cell: number; cause: number; to?: number },
): IllegalMove {
  const id = run.cellBase[step]! + cell;
  const name = run.plan.steps[step]?.step.name ?? `number ${step}`;
  const target = to === undefined ? '' : ` to ${stateName(to)}`;
  const state = stateName(run.cells.state[id] ?? 0);
  return new IllegalMove(
    `cannot move cell ${cell} of step ${JSON.stringify(name)}${target} on ${CAUSES[cause]}: it is ${state}`,
    run.history.of(id),
  );
}
