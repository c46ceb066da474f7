import type { Plan } from '@sluice/core';
import type { Command, RunStatus } from '../model/command.ts';
import type { PostponeReason } from '../model/event.ts';
import { CAUSES, isLegal } from '../model/legal-moves.ts';
import type { SchedulerOptions } from '../model/scheduler-options.ts';
import { CODE, FIRST_TERMINAL, isLive, stateName } from '../model/state-code.ts';
import type { WaitReason } from '../model/wait-reason.ts';
import { CELL, type CellTable, createCellTable } from './cell-table.ts';
import { IllegalMove } from './illegal-move.ts';
import { conditionOf, createPlanIndex, EDGE, type PlanIndex, STEP } from './plan-index.ts';
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts';
import { createStartPace, type StartPace } from './start-pace.ts';
import { createStory, type Story } from './story.ts';
import { createTimers, type Timers } from './timers.ts';

/** How far a step is. */
export const PHASE = { waiting: 0, deciding: 1, approval: 2, open: 3, over: 4 } as const;

/** Why nothing new starts. */
export const STOP = { none: 0, failFast: 1, runTimeout: 2, canceled: 3 } as const;

/** Why a step never ran: `SkipCause` as a number. */
export const CAUSE_KIND = {
  none: 0,
  when: 1,
  dependency: 2,
  failFast: 3,
  notNeeded: 4,
  canceled: 5,
  runTimeout: 6,
  deadline: 7,
  stuck: 8,
} as const;

/** Cells per step that a key of the ready queue can hold. */
export const CELL_SPAN = 2 ** 21;

/** Until when a cell in `backingOff` waits, and why where its submission was put off. */
interface WaitForTime {
  readonly until: number;
  readonly reason: PostponeReason | undefined;
  readonly detail: string | undefined;
}

/** Everything that changes during a run. Written by the functions behind `Scheduler.handle` only. */
export interface RunState {
  readonly plan: Plan;
  readonly index: PlanIndex;
  readonly seed: string;
  readonly onMove: SchedulerOptions['onMove'];
  readonly queue: ReadyQueue;
  readonly timers: Timers;
  readonly story: Story;
  readonly cells: CellTable;
  /** Cells by state. */
  readonly counts: Int32Array;
  readonly phase: Uint8Array;
  /** Dependencies not resolved yet; a step of `finally` has one more, for all the other steps. */
  readonly blockers: Int32Array;
  readonly cellBase: Int32Array;
  readonly cellCount: Int32Array;
  readonly openCells: Int32Array;
  /** The terminal states that its cells have ended in, as bits. */
  readonly seen: Uint16Array;
  readonly causeKind: Uint8Array;
  readonly causeStep: Int32Array;
  /** What was asked of the step in `causeStep` and not given, as an edge's byte. */
  readonly causeEdge: Uint8Array;
  /** Of a watched step: cells that have not run yet; -1 when its early edges have been resolved. */
  readonly notRun: Int32Array;
  /** Of a service: dependents that are not over. -1 for none at all. */
  readonly needers: Int32Array;
  /** Steps whose `foreach` had no items. */
  readonly emptySteps: Set<number>;
  /** Until when the cells in `backingOff` wait, by number; with the reason where their submission was put off. */
  readonly backOffs: Map<number, WaitForTime>;
  /** What the cells of a step waited for when the run was found stuck. */
  readonly stuckReasons: Map<number, WaitReason>;
  /** Steps that are over and whose dependents do not know it yet. */
  readonly over: number[];
  /** Services of which a cell is over before it was ready: to be ended as a whole before the next pick. */
  readonly brokenServices: number[];
  openMain: number;
  openFinal: number;
  finalsReleased: boolean;
  started: boolean;
  finished: boolean;
  failed: boolean;
  /** How the run stood when `finally` was released. */
  mainStatus: RunStatus;
  stop: number;
  /** The step whose failure stops the run, to be acted on before the next pick; -1 for none. */
  tripped: number;
  /** The first step whose failure was not tolerated. */
  firstFailure: number;
  cancelRequests: number;
  finalsCanceled: boolean;
  /** Ready cells have been stopped and are still in the queue. */
  queueDirty: boolean;
  /** Steps in `deciding`. */
  openDecisions: number;
  /** Live cells of services that are ready and have not been asked to end: they do not end by themselves. */
  servingCells: number;
  /** How fast cells are started while the service refuses. */
  readonly pace: StartPace;
  wakeAt: number;
  staleAnswers: number;
  now: number;
  out: Command[];
}

export function createRunState(plan: Plan, options: SchedulerOptions): RunState {
  const index = createPlanIndex(plan, options);
  const count = index.stepCount;
  const capacity = Math.min(options.maxInFlight ?? Infinity, plan.pipeline.parallelism ?? Infinity);
  const run: RunState = {
    plan,
    index,
    seed: options.seed ?? '',
    onMove: options.onMove,
    queue: createReadyQueue(capacity, index),
    timers: createTimers(),
    story: createStory(),
    cells: createCellTable(index.staticCells + count),
    counts: new Int32Array(16),
    phase: new Uint8Array(count),
    blockers: index.dependencyCount.slice(),
    cellBase: new Int32Array(count),
    cellCount: new Int32Array(count),
    openCells: new Int32Array(count),
    seen: new Uint16Array(count),
    causeKind: new Uint8Array(count),
    causeStep: new Int32Array(count).fill(-1),
    causeEdge: new Uint8Array(count),
    notRun: new Int32Array(count),
    needers: new Int32Array(count).fill(-1),
    emptySteps: new Set(),
    backOffs: new Map(),
    stuckReasons: new Map(),
    over: [],
    brokenServices: [],
    openMain: index.mainSteps,
    openFinal: count - index.mainSteps,
    finalsReleased: false,
    started: false,
    finished: false,
    failed: false,
    mainStatus: 'succeeded',
    stop: STOP.none,
    tripped: -1,
    firstFailure: -1,
    cancelRequests: 0,
    finalsCanceled: false,
    queueDirty: false,
    openDecisions: 0,
    servingCells: 0,
    pace: createStartPace(),
    wakeAt: Infinity,
    staleAnswers: 0,
    now: 0,
    out: [],
  };
  for (const { index: step, cells } of plan.steps) setCells(run, { step, count: cells?.length ?? 1 });
  for (let step = 0; step < count; step++) countNeeders(run, step);
  return run;
}

/** Gives a step its cells, all waiting. An undecided `foreach` has one that stands for all. */
export function setCells(run: RunState, { step, count }: { step: number; count: number }): void {
  if (count >= CELL_SPAN)
    throw new RangeError(`cannot give step ${step} ${count} cells: at most ${CELL_SPAN - 1} are possible`);
  const replaced = run.cellCount[step]!;
  if (count !== replaced) run.cellBase[step] = run.cells.add(count);
  run.cellCount[step] = count;
  run.openCells[step] = count;
  run.notRun[step] = count;
  run.counts[0]! += count - replaced;
}

function countNeeders(run: RunState, step: number): void {
  const { edgeStart, edgeTo, edgeKind, flags } = run.index;
  if ((run.index.flags[step]! & STEP.final) !== 0) run.blockers[step]!++;
  if ((flags[step]! & STEP.service) === 0) return;
  for (let edge = edgeStart[step]!; edge < edgeStart[step + 1]!; edge++) {
    const sameKind = ((flags[edgeTo[edge]!]! ^ flags[step]!) & STEP.final) === 0;
    const kind = edgeKind[edge]!;
    if ((kind & EDGE.early) !== 0 && conditionOf(kind) !== 'skipped' && sameKind)
      run.needers[step] = Math.max(0, run.needers[step]!) + 1;
  }
}

/** The only place that changes a cell's state: checks the move, keeps the counts, the limits and the story. */
export function moveCell(run: RunState, step: number, move: { cell: number; to: number; cause: number }): void {
  const id = run.cellBase[step]! + move.cell;
  const { to, cause } = move;
  const from = run.cells.state[id]!;
  if (!isLegal(from, cause, to)) throw illegalMove(run, step, move);
  if (from === to) return;
  run.cells.state[id] = to;
  run.counts[from]!--;
  run.counts[to]!++;
  run.onMove?.(step, move.cell);
  run.story.add(id, { at: run.now, from, to, cause, attempt: run.cells.attempt[id]! });
  if (from === CODE.backingOff) run.backOffs.delete(id);
  if (isLive(from) && !isLive(to)) {
    run.queue.release(run.index.lane[step]!);
    if ((run.cells.flags[id]! & CELL.serving) !== 0) stopServing(run, id);
  }
  if (to >= FIRST_TERMINAL) cellOver(run, step, { id, state: to });
}

function cellOver(run: RunState, step: number, { id, state }: { id: number; state: number }): void {
  run.seen[step]! |= 1 << state;
  if ((run.index.flags[step]! & STEP.service) !== 0 && (run.cells.flags[id]! & CELL.ran) === 0)
    run.brokenServices.push(step);
  if (--run.openCells[step]! === 0) {
    setPhase(run, step, PHASE.over);
    run.over.push(step);
  }
  if (isFailure(run, state) && (run.index.flags[step]! & STEP.continueOnError) === 0) {
    run.failed = true;
    if (run.firstFailure < 0) run.firstFailure = step;
    const stops = run.plan.pipeline.failFast && run.stop === STOP.none && run.tripped < 0;
    if (stops && (run.index.flags[step]! & STEP.final) === 0) run.tripped = step;
  }
}

/** A cancellation that nobody in this run asked for is a failure; one that somebody asked for is not. */
function isFailure(run: RunState, state: number): boolean {
  const name = stateName(state);
  return (
    name === 'failed' ||
    name === 'errored' ||
    name === 'timedOut' ||
    (name === 'canceled' && run.stop < STOP.runTimeout)
  );
}

/** Moves a step to another phase. */
export function setPhase(run: RunState, step: number, phase: number): void {
  if (run.phase[step] === PHASE.deciding) run.openDecisions--;
  if (phase === PHASE.deciding) run.openDecisions++;
  run.phase[step] = phase;
}

/** The service's cell has ended, or has been asked to. */
export function stopServing(run: RunState, id: number): void {
  if ((run.cells.flags[id]! & CELL.serving) === 0) return;
  run.cells.flags[id]! &= ~CELL.serving;
  run.servingCells--;
}

/** Throws for a step or cell that the plan does not have: the event is of another run. */
export function checkCell(run: RunState, step: number, cell: number): void {
  if (cell >= 0 && cell < (run.cellCount[step] ?? 0)) return;
  throw new IllegalMove(`cannot take an event for cell ${cell} of step ${step}: the run has no such cell`, []);
}

/** The error for an event that cannot happen now. */
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
    run.story.of(id),
  );
}
