import type { CellState } from '../model/cell-state.ts';
import type { SchedulerEvent } from '../model/event.ts';
import { CAUSE, isPossible } from '../model/legal-moves.ts';
import { CODE, stateName } from '../model/state-code.ts';
import { worstState } from '../model/worst-state.ts';
import { CELL } from '../state/cell-table.ts';
import { setLateValues } from '../state/cell-values.ts';
import { allCells } from '../state/cells-read.ts';
import { cellsBehind, gateCell, gateCount, gateOf, hasEnded } from '../state/gates.ts';
import type { EndedCell } from '../state/match-table.ts';
import {
  addFlag,
  checkCell,
  clearEnded,
  countStale,
  endEmptyStep,
  illegalMove,
  moveCell,
  setPhase,
  startServing,
} from '../state/move-cell.ts';
import { conditionOf, EDGE, laneOfCell, STEP } from '../state/plan-index.ts';
import { CAUSE_KIND, PHASE, queueKey, type RunState, setCells } from '../state/run-state.ts';
import { sendCommand } from '../state/send-command.ts';
import { type GateCause, setCause } from '../state/set-cause.ts';
import { runStatus } from '../view/run-status.ts';
import { isSatisfied, type SourceEnd } from './is-satisfied.ts';
import { earlyStepEnd, findNoItem, findRoot, judgeGate, namesUnknownItem, stepEnd } from './judge-gate.ts';
import { endIfUnused, releaseServices, releaseUsed } from './service-flow.ts';
import { type Gate, isAfterFailure, stopEnd, stopGate } from './stop-flow.ts';

/** The gate that an event answers for; the cell only for a step with `each`. */
type AnsweredGate = Pick<Gate, 'step'> & Partial<Gate>;

type Decided = Extract<SchedulerEvent, { readonly type: 'decided' }>;

/**
 * Resolves the edges of every ended step and cell until nothing more follows. A list instead of recursion, because chains
 * can be long.
 */
export function resolveEnds(run: RunState): void {
  const { ended, endedCells } = run;
  for (let step = 0, cell = 0; step < ended.length || cell < endedCells.length; ) {
    if (cell < endedCells.length) endCell(run, endedCells[cell++]!);
    else endStep(run, ended[step++]!);
  }
  clearEnded(run);
}

/** Releases the gates without dependencies; called once. */
export function releaseRoots(run: RunState): void {
  for (let step = 0; step < run.index.stepCount; step++) {
    const gates = gateCount(run, step);
    if (gates === 0) endEmptyStep(run, step);
    for (let cell = 0; cell < gates; cell++)
      if (run.blockers[run.gateBase[step]! + cell] === 0) releaseGate(run, step, cell);
  }
}

/** All other steps have ended: the steps of `finally` may start. */
export function releaseFinals(run: RunState): void {
  run.finalsReleased = true;
  run.mainStatus = runStatus(run);
  for (let step = 0; step < run.index.stepCount; step++) {
    if ((run.index.flags[step]! & STEP.final) === 0) continue;
    for (let cell = 0; cell < gateCount(run, step); cell++) resolveGate(run, step, cell);
  }
}

function endStep(run: RunState, step: number): void {
  const flags = run.index.flags[step]!;
  if ((flags & STEP.final) !== 0) run.openFinal--;
  else run.openMain--;
  const early = (flags & STEP.watched) !== 0 && run.notRun[step] === -1;
  const { edgeStart, edgeTo, edgeKind } = run.index;
  // Nearly every step succeeds and nearly every edge requires just that: skip the general rules in this case.
  const end = run.seen[step] === 1 << CODE.succeeded ? undefined : stepEnd(run, step);
  for (let edge = edgeStart[step]!; edge < edgeStart[step + 1]!; edge++) {
    const kind = edgeKind[edge]!;
    if ((kind & EDGE.matched) !== 0 || (early && (kind & EDGE.early) !== 0)) continue;
    const satisfied = (end === undefined && kind === 0) || allows(kind, end ?? stepEnd(run, step));
    resolveEdge(run, edgeTo[edge]!, satisfied ? undefined : { failedOn: step, kind });
  }
  if ((flags & STEP.usesService) !== 0) releaseServices(run, step);
}

function endCell(run: RunState, ended: EndedCell): void {
  run.matches.countEnd(ended, (reader, of) => resolveGate(run, reader, of));
  if ((run.index.flags[ended.step]! & STEP.usesService) !== 0) releaseUsed(run, ended);
  // Those that use all cells of a service with `each` do not wait for one that was never ready.
  if ((run.index.flags[ended.step]! & STEP.service) !== 0 && !ended.hasRun) countNotRun(run, ended.step);
}

/** A step's own end: the worst of the ends of its cells. Without cells, it has been skipped. */
function verdict(seen: number): CellState {
  return worstState((state) => (seen & (1 << CODE[state])) !== 0);
}

/** One dependency fewer to wait for, of all cells of a step. `missed`: the step that did not satisfy the edge. */
function resolveEdge(run: RunState, step: number, missed?: { failedOn: number; kind: number }): void {
  const first = run.gateBase[step]!;
  let cause: GateCause | undefined;
  for (let cell = 0; cell < gateCount(run, step); cell++) {
    if (missed !== undefined && run.causeKind[first + cell] === CAUSE_KIND.none) {
      cause ??= findRoot(run, { step: missed.failedOn, cells: allCells(run, missed.failedOn), edge: missed.kind });
      setCause(run, first + cell, cause);
    }
    resolveGate(run, step, cell);
  }
}

/** One dependency fewer to wait for. */
export function resolveGate(run: RunState, step: number, cell: number): void {
  if (--run.blockers[run.gateBase[step]! + cell]! === 0) releaseGate(run, step, cell);
}

/** Every dependency is resolved: skip the cells of the gate, request its decision, or open it. */
function releaseGate(run: RunState, step: number, cell: number): void {
  const gate = run.gateBase[step]! + cell;
  if (run.phase[gate] === PHASE.ended) return;
  const end = stopEnd(run, step, cell);
  if (end !== undefined && !isAfterFailure(end.kind)) {
    stopGate(run, { step, cell }, end);
    return;
  }
  const unsatisfied = judgeGate(run, step, cell);
  if (unsatisfied !== undefined && run.causeKind[gate] === CAUSE_KIND.none) setCause(run, gate, unsatisfied);
  // A failed dependency is a more precise cause than fail-fast, but less precise than a cancellation by the user.
  if (run.causeKind[gate] === CAUSE_KIND.dependency || unsatisfied !== undefined) {
    endCells(run, { step, cell }, { to: CODE.skipped, cause: CAUSE.skipped });
    return;
  }
  if (end !== undefined) {
    stopGate(run, { step, cell }, end);
    return;
  }
  if ((run.index.flags[step]! & STEP.dynamic) !== 0 || namesUnknownItem(run, step, cell)) {
    setPhase(run, gate, PHASE.deciding);
    sendCommand(run, { type: 'decide', step, ...gateCell(run, step, cell) });
  } else openGate(run, step, cell);
}

/** Stops a gate that is released while the run is stopping. Returns whether it did. */
function stopIfStopping(run: RunState, step: number, cell: number): boolean {
  const end = stopEnd(run, step, cell);
  if (end !== undefined) stopGate(run, { step, cell }, end);
  return end !== undefined;
}

/** Starts the cells of a gate: requests approval if they need one, otherwise makes them ready. */
function openGate(run: RunState, step: number, cell: number): void {
  const noItem = findNoItem(run, step, cell);
  const gate = gateOf(run, step, cell);
  if (noItem !== undefined) {
    setCause(run, gate, noItem);
    endCells(run, { step, cell }, { to: CODE.skipped, cause: CAUSE.skipped });
    return;
  }
  const { approval } = run.plan.steps[step]!.step;
  if ((run.index.flags[step]! & STEP.approval) === 0 || approval === undefined) {
    openCells(run, { step, cell }, CAUSE.released);
    return;
  }
  setPhase(run, gate, PHASE.approval);
  const { first, end } = cellsBehind(run, step, cell);
  for (let one = first; one < end; one++) {
    moveCell(run, step, { cell: one, to: CODE.awaitingApproval, cause: CAUSE.released });
  }
  sendCommand(run, { type: 'askApproval', step, ...gateCell(run, step, cell) });
  if (approval.timeoutMs !== undefined) {
    run.timers.add({ kind: 'approval', at: run.now + approval.timeoutMs, step, cell, attempt: 0 });
  }
}

function openCells(run: RunState, { step, cell }: Gate, cause: number): void {
  const cached = (run.index.flags[step]! & STEP.cached) !== 0;
  setPhase(run, gateOf(run, step, cell), PHASE.open);
  const { first, end } = cellsBehind(run, step, cell);
  for (let one = first; one < end; one++) {
    if (cached) {
      moveCell(run, step, { cell: one, to: CODE.checking, cause });
      sendCommand(run, { type: 'lookUp', step, cell: one });
    } else makeReady(run, step, { cell: one, cause });
  }
}

/** Makes a cell ready: it may start, or waits until its item may be in progress. */
export function makeReady(run: RunState, step: number, { cell, cause }: { cell: number; cause: number }): void {
  moveCell(run, step, { cell, to: CODE.ready, cause });
  if (run.items === undefined || run.items.mayEnter(step, cell)) enterQueue(run, step, cell);
}

/** Adds a ready cell to the queue. */
export function enterQueue(run: RunState, step: number, cell: number): void {
  run.queue.push(laneOfCell(run.index, step, cell), queueKey(run.index, step, cell));
}

/**
 * Answer to `decide`: `when` holds, and the number of cells is known. A step that stops instead is not expanded, like one
 * that is stopped before the answer.
 */
export function decided(run: RunState, { step, cell = 0, cells, values }: Decided): void {
  if (!expectDeciding(run, { step, cell }, CAUSE.released)) return;
  if (stopIfStopping(run, step, cell)) return;
  if (run.plan.steps[step]!.cells !== undefined) {
    setLateValues(run, { step, cell }, values);
    openGate(run, step, cell);
    return;
  }
  run.expanded.set(step, cells);
  if (cells === 0) {
    setPhase(run, gateOf(run, step, 0), PHASE.open);
    moveCell(run, step, { cell: 0, to: CODE.succeeded, cause: CAUSE.released });
    return;
  }
  setCells(run, { step, count: cells });
  setLateValues(run, { step, cell: 0 }, values);
  openGate(run, step, 0);
}

/** Answer to `decide`: `when` is false. */
export function skippedByWhen(run: RunState, { step, cell = 0 }: AnsweredGate): void {
  if (!expectDeciding(run, { step, cell }, CAUSE.skipped)) return;
  setCause(run, gateOf(run, step, cell), { kind: CAUSE_KIND.when });
  endCells(run, { step, cell }, { to: CODE.skipped, cause: CAUSE.skipped });
}

/** Answer to `decide`: an expression of the step could not be evaluated, which no retry can change. */
export function evaluationFailed(run: RunState, { step, cell = 0 }: AnsweredGate): void {
  if (!expectDeciding(run, { step, cell }, CAUSE.evaluationFailed)) return;
  endCells(run, { step, cell }, { to: CODE.failed, cause: CAUSE.evaluationFailed });
}

function expectDeciding(run: RunState, { step, cell }: Gate, cause: number): boolean {
  checkCell(run, step, cell);
  const phase = run.phase[gateOf(run, step, cell)];
  if (phase === PHASE.ended) {
    countStale(run);
    return false;
  }
  if (phase !== PHASE.deciding) throw illegalMove(run, step, { cell, cause });
  return true;
}

/** The answer to an approval. A step without a container of its own ends with it. */
export function approved(run: RunState, { step, cell = 0 }: AnsweredGate, yes: boolean): void {
  checkCell(run, step, cell);
  const phase = run.phase[gateOf(run, step, cell)];
  if (phase === PHASE.ended) {
    countStale(run);
    return;
  }
  if (phase !== PHASE.approval) throw illegalMove(run, step, { cell, cause: CAUSE.approved });
  const { image, command } = run.plan.steps[step]!.step;
  if (yes && (image !== undefined || command !== undefined)) openCells(run, { step, cell }, CAUSE.approved);
  else endCells(run, { step, cell }, { to: yes ? CODE.succeeded : CODE.failed, cause: CAUSE.approved });
}

/** Moves every cell of an unopened gate to the same end. */
export function endCells(run: RunState, { step, cell }: Gate, { to, cause }: { to: number; cause: number }): void {
  const { first, end } = cellsBehind(run, step, cell);
  for (let one = first; one < end; one++) moveCell(run, step, { cell: one, to, cause });
}

/** The cell is running, or ready if it is a service: resolves its early edges, and those of its step if it is the last. */
export function cellRan(run: RunState, step: number, cell: number): void {
  const id = run.cellBase[step]! + cell;
  const isService = (run.index.flags[step]! & STEP.service) !== 0;
  if (isService && run.cells.cancel[id] === 0) startServing(run, id);
  if ((run.cells.flags[id]! & CELL.ran) !== 0) return;
  addFlag(run, id, CELL.ran);
  run.matches.countRun({ step, cell }, (reader, of) => resolveGate(run, reader, of));
  const isLast = countNotRun(run, step);
  if (isService && (isLast || (run.index.flags[step]! & STEP.each) !== 0)) endIfUnused(run, { step, cell });
}

/** One cell fewer to wait for; resolves the early edges of its step if it is the last. Returns whether it is. */
function countNotRun(run: RunState, step: number): boolean {
  if (--run.notRun[step]! > 0) return false;
  run.notRun[step] = -1;
  const end = earlyStepEnd(run, step);
  const { edgeStart, edgeTo, edgeKind } = run.index;
  for (let edge = edgeStart[step]!; edge < edgeStart[step + 1]!; edge++) {
    const kind = edgeKind[edge]!;
    if ((kind & EDGE.early) === 0 || (kind & EDGE.matched) !== 0) continue;
    resolveEdge(run, edgeTo[edge]!, allows(kind, end) ? undefined : { failedOn: step, kind });
  }
  return true;
}

function allows(kind: number, end: SourceEnd): boolean {
  return (kind & (EDGE.orderOnly | EDGE.free)) !== 0 || isSatisfied(conditionOf(kind), end);
}

/** Whether the cause applies to the cell. A late answer for an ended cell is counted and rejected. */
export function accepts(run: RunState, step: number, { cell, cause }: { cell: number; cause: number }): boolean {
  const state = run.cells.state[run.cellBase[step]! + cell]!;
  if (state >= CODE.succeeded) {
    countStale(run);
    return false;
  }
  if (!isPossible(state, cause)) throw illegalMove(run, step, { cell, cause });
  return true;
}

/** The state of a step: its end, or the most advanced state of its cells. */
export function stepState(run: RunState, step: number): CellState {
  if (hasEnded(run, step)) return verdict(run.seen[step]!);
  let present = 0;
  for (let cell = 0; cell < run.cellCount[step]!; cell++) present |= 1 << run.cells.state[run.cellBase[step]! + cell]!;
  const foremost = FOREMOST.find((code) => (present & (1 << code)) !== 0);
  return stateName(foremost ?? CODE.waiting);
}

const FOREMOST = [
  CODE.running,
  CODE.publishing,
  CODE.pending,
  CODE.submitting,
  CODE.checking,
  CODE.ready,
  CODE.backingOff,
  CODE.awaitingApproval,
];
