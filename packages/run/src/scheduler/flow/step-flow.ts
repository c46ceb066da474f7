import type { CellState } from '../model/cell-state.ts';
import { CAUSE, isPossible } from '../model/legal-moves.ts';
import { CODE, stateName } from '../model/state-code.ts';
import { CELL } from '../state/cell-table.ts';
import {
  addFlag,
  clearEnded,
  countStale,
  illegalMove,
  moveCell,
  setPhase,
  startServing,
  takeBrokenService,
} from '../state/move-cell.ts';
import { conditionOf, EDGE, STEP } from '../state/plan-index.ts';
import { CAUSE_KIND, CELL_SPAN, PHASE, type RunState, setCells } from '../state/run-state.ts';
import { sendCommand } from '../state/send-command.ts';
import { setCause } from '../state/set-cause.ts';
import { runStatus } from '../view/run-status.ts';
import { isSatisfied, type StepEnd } from './is-satisfied.ts';
import { noLongerNeeded, stopEnd, stopStep } from './stop-flow.ts';

/**
 * Resolves the edges of every ended step until nothing more follows. A list instead of recursion, because chains can be
 * long.
 */
export function resolveEnds(run: RunState): void {
  for (let i = 0; i < run.ended.length; i++) endStep(run, run.ended[i]!);
  clearEnded(run);
}

/** Releases the steps without dependencies; called once. */
export function releaseRoots(run: RunState): void {
  for (let step = 0; step < run.index.stepCount; step++) if (run.blockers[step] === 0) releaseStep(run, step);
}

/** All other steps have ended: the steps of `finally` may start. */
export function releaseFinals(run: RunState): void {
  run.finalsReleased = true;
  run.mainStatus = runStatus(run);
  for (let step = 0; step < run.index.stepCount; step++) {
    if ((run.index.flags[step]! & STEP.final) !== 0 && --run.blockers[step]! === 0) releaseStep(run, step);
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
    if (early && (kind & EDGE.early) !== 0) continue;
    const plain = (end === undefined && kind === 0) || (kind & EDGE.orderOnly) !== 0;
    const satisfied = plain || isSatisfied(conditionOf(kind), end ?? stepEnd(run, step));
    resolveEdge(run, edgeTo[edge]!, satisfied ? undefined : { failedOn: step, kind });
  }
  if ((flags & STEP.usesService) !== 0) releaseServices(run, step);
}

function stepEnd(run: RunState, step: number): StepEnd {
  return {
    state: verdict(run.seen[step]!),
    byWhen: run.causeKind[step] === CAUSE_KIND.when,
    tolerated: (run.index.flags[step]! & STEP.continueOnError) !== 0,
    ran: run.notRun[step]! <= 0,
  };
}

const WORST_FIRST: readonly CellState[] = [
  'failed',
  'errored',
  'timedOut',
  'canceled',
  'skipped',
  'succeeded',
  'cached',
];

/** A step's own end: the worst of the ends of its cells. */
function verdict(seen: number): CellState {
  return WORST_FIRST.find((state) => (seen & (1 << CODE[state])) !== 0) ?? 'waiting';
}

/** One dependency fewer to wait for. `missed`: the step that did not satisfy the edge, and the edge. */
function resolveEdge(run: RunState, step: number, missed?: { failedOn: number; kind: number }): void {
  if (missed !== undefined && run.causeKind[step] === CAUSE_KIND.none) {
    const { failedOn, kind } = missed;
    const root = verdict(run.seen[failedOn]!) === 'skipped' ? run.causeStep[failedOn]! : -1;
    const edge = root === -1 ? kind : run.causeEdge[failedOn]!;
    setCause(run, step, { kind: CAUSE_KIND.dependency, root: root === -1 ? failedOn : root, edge });
  }
  if (--run.blockers[step]! === 0) releaseStep(run, step);
}

/** Every dependency is resolved: skip the step, request its decision, or open it. */
function releaseStep(run: RunState, step: number): void {
  if (run.phase[step] === PHASE.ended) return;
  const end = stopEnd(run, step);
  if (end !== undefined && end.kind !== CAUSE_KIND.failFast) {
    stopStep(run, step, end);
    return;
  }
  // A failed dependency is a more precise cause than fail-fast, but less precise than a cancellation by the user.
  if (run.causeKind[step] === CAUSE_KIND.dependency) {
    endCells(run, step, { to: CODE.skipped, cause: CAUSE.skipped });
    return;
  }
  if (end !== undefined) {
    stopStep(run, step, end);
    return;
  }
  if ((run.index.flags[step]! & STEP.dynamic) !== 0) {
    setPhase(run, step, PHASE.deciding);
    sendCommand(run, { type: 'decide', step });
  } else openStep(run, step);
}

/** Stops a step that is released while the run is stopping. Returns whether it did. */
function stopIfStopping(run: RunState, step: number): boolean {
  const end = stopEnd(run, step);
  if (end !== undefined) stopStep(run, step, end);
  return end !== undefined;
}

/** Starts the step: requests approval if it needs one, otherwise makes its cells ready. */
function openStep(run: RunState, step: number): void {
  const { approval } = run.plan.steps[step]!.step;
  if ((run.index.flags[step]! & STEP.approval) === 0 || approval === undefined) {
    openCells(run, step, CAUSE.released);
    return;
  }
  setPhase(run, step, PHASE.approval);
  for (let cell = 0; cell < run.cellCount[step]!; cell++) {
    moveCell(run, step, { cell, to: CODE.awaitingApproval, cause: CAUSE.released });
  }
  sendCommand(run, { type: 'askApproval', step });
  if (approval.timeoutMs !== undefined) {
    run.timers.add({ kind: 'approval', at: run.now + approval.timeoutMs, step, cell: 0, attempt: 0 });
  }
}

function openCells(run: RunState, step: number, cause: number): void {
  const cached = (run.index.flags[step]! & STEP.cached) !== 0;
  setPhase(run, step, PHASE.open);
  for (let cell = 0; cell < run.cellCount[step]!; cell++) {
    if (cached) {
      moveCell(run, step, { cell, to: CODE.checking, cause });
      sendCommand(run, { type: 'lookUp', step, cell });
    } else makeReady(run, step, { cell, cause });
  }
}

/** Adds a cell to the ready queue. */
export function makeReady(run: RunState, step: number, { cell, cause }: { cell: number; cause: number }): void {
  moveCell(run, step, { cell, to: CODE.ready, cause });
  run.queue.push(run.index.lane[step]!, run.index.position[step]! * CELL_SPAN + cell);
}

/**
 * Answer to `decide`: `when` holds, and the number of cells is known. A step that stops instead is not expanded, like one
 * that is stopped before the answer.
 */
export function decided(run: RunState, step: number, cells: number): void {
  if (!expectDeciding(run, step, CAUSE.released)) return;
  if (stopIfStopping(run, step)) return;
  if (run.plan.steps[step]!.cells !== undefined) {
    openStep(run, step);
    return;
  }
  run.expanded.set(step, cells);
  if (cells === 0) {
    setPhase(run, step, PHASE.open);
    moveCell(run, step, { cell: 0, to: CODE.succeeded, cause: CAUSE.released });
    return;
  }
  setCells(run, { step, count: cells });
  openStep(run, step);
}

/** Answer to `decide`: `when` is false. */
export function skippedByWhen(run: RunState, step: number): void {
  if (!expectDeciding(run, step, CAUSE.skipped)) return;
  setCause(run, step, { kind: CAUSE_KIND.when });
  endCells(run, step, { to: CODE.skipped, cause: CAUSE.skipped });
}

/** Answer to `decide`: an expression of the step could not be evaluated, which no retry can change. */
export function evaluationFailed(run: RunState, step: number): void {
  if (!expectDeciding(run, step, CAUSE.evaluationFailed)) return;
  endCells(run, step, { to: CODE.failed, cause: CAUSE.evaluationFailed });
}

function expectDeciding(run: RunState, step: number, cause: number): boolean {
  if (run.phase[step] === PHASE.ended) {
    countStale(run);
    return false;
  }
  if (run.phase[step] !== PHASE.deciding) throw illegalMove(run, step, { cell: 0, cause });
  return true;
}

/** The answer to an approval step. A step without a container of its own ends with it. */
export function approved(run: RunState, step: number, yes: boolean): void {
  if (run.phase[step] === PHASE.ended) {
    countStale(run);
    return;
  }
  if (run.phase[step] !== PHASE.approval) throw illegalMove(run, step, { cell: 0, cause: CAUSE.approved });
  const { image, command } = run.plan.steps[step]!.step;
  if (yes && (image !== undefined || command !== undefined)) openCells(run, step, CAUSE.approved);
  else endCells(run, step, { to: yes ? CODE.succeeded : CODE.failed, cause: CAUSE.approved });
}

/** Moves every cell of an unopened step to the same end. */
export function endCells(run: RunState, step: number, { to, cause }: { to: number; cause: number }): void {
  const count = run.cellCount[step]!;
  for (let cell = 0; cell < count; cell++) moveCell(run, step, { cell, to, cause });
}

/** The cell is running, or ready if it is a service: resolves the early edges if it is the last cell of its step. */
export function cellRan(run: RunState, step: number, cell: number): void {
  const id = run.cellBase[step]! + cell;
  const service = (run.index.flags[step]! & STEP.service) !== 0;
  if (service && run.cells.cancel[id] === 0) startServing(run, id);
  if ((run.cells.flags[id]! & CELL.ran) !== 0) return;
  addFlag(run, id, CELL.ran);
  if (--run.notRun[step]! > 0) return;
  run.notRun[step] = -1;
  const { edgeStart, edgeTo, edgeKind } = run.index;
  for (let edge = edgeStart[step]!; edge < edgeStart[step + 1]!; edge++) {
    const kind = edgeKind[edge]!;
    if ((kind & EDGE.early) === 0) continue;
    resolveEdge(run, edgeTo[edge]!, conditionOf(kind) === 'skipped' ? { failedOn: step, kind } : undefined);
  }
  if (!service || run.needers[step] !== -1) return;
  // A service without dependents. From now on it counts as no longer needed, so a failure to publish does not restart
  // it.
  run.needers[step] = 0;
  noLongerNeeded(run, step);
}

/** Ends a service whose cells can no longer all become ready: otherwise its ready cells would run forever. */
export function endBrokenServices(run: RunState): void {
  for (let step = takeBrokenService(run); step !== undefined; step = takeBrokenService(run)) {
    if (run.phase[step] === PHASE.ended) continue;
    run.needers[step] = 0;
    noLongerNeeded(run, step);
  }
}

/** Releases the services that this ended step has used. */
function releaseServices(run: RunState, step: number): void {
  for (const { on, condition } of run.plan.steps[step]!.dependencies) {
    const flags = run.index.flags[on]!;
    const counted = (flags & STEP.service) !== 0 && (condition === 'succeeded' || condition === 'running');
    if (!counted || ((flags ^ run.index.flags[step]!) & STEP.final) !== 0) continue;
    if (run.needers[on]! > 0 && --run.needers[on]! === 0) noLongerNeeded(run, on);
  }
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
  if (run.phase[step] === PHASE.ended) return verdict(run.seen[step]!);
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
