import { type Batches, batchesOfPlan, type CellValues, type Plan } from '@sluice/core';
import type { Command, RunStatus } from '../model/command.ts';
import type { PostponeReason } from '../model/event.ts';
import type { SchedulerOptions } from '../model/scheduler-options.ts';
import type { WaitReason } from '../model/wait-reason.ts';
import { type CellTable, createCellTable } from './cell-table.ts';
import { createGates } from './create-gates.ts';
import { createHistory, type History } from './history.ts';
import { createItemLimits, type ItemLimits } from './item-limits.ts';
import { createMatchTable, type EndedCell, type MatchTable } from './match-table.ts';
import { countNeeders } from './needers.ts';
import { createPlanIndex, type PlanIndex, STEP } from './plan-index.ts';
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts';
import { createStartPace, type StartPace } from './start-pace.ts';
import { createTimers, type Timers } from './timers.ts';

/** The progress of a gate. */
export const PHASE = { waiting: 0, deciding: 1, approval: 2, open: 3, ended: 4 } as const;

/** Why nothing new starts. */
export const STOP = { none: 0, failFast: 1, runTimeout: 2, canceled: 3 } as const;

/** Why the cells of a gate never ran: `SkipCause` as a number. */
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
  noItem: 9,
  tolerance: 10,
} as const;

/** Cells per step that a key of the ready queue can represent. */
const CELL_SPAN = 2 ** 21;

/** Until when a cell in `backingOff` waits, and the reason if its submission was postponed. */
export interface WaitForTime {
  readonly until: number;
  readonly reason: PostponeReason | undefined;
  readonly detail: string | undefined;
}

/**
 * Everything that changes during a run. Created here; afterwards each field is written only by the module named in the
 * comment above it (`scripts/rules/state-owners.mjs` checks this).
 */
export interface RunState {
  // Written by nothing: constant.
  readonly plan: Plan;
  readonly index: PlanIndex;
  readonly seed: string;
  readonly onMove: SchedulerOptions['onMove'];
  // Objects that write themselves.
  readonly queue: ReadyQueue;
  readonly timers: Timers;
  readonly history: History;
  readonly cells: CellTable;
  /** The edges between cells. */
  readonly matches: MatchTable;
  /** The items of axes with `parallelism`; undefined if there are none. */
  readonly items: ItemLimits | undefined;
  /** By step over a listed axis: its cells, of which the planned ones stand for lists. */
  readonly batches: readonly (Batches | undefined)[];
  /** How fast cells are started while the service rejects containers. */
  readonly pace: StartPace;
  // Written by run-state.ts.
  readonly cellBase: Int32Array;
  readonly cellCount: Int32Array;
  /** The first gate of each step. */
  readonly gateBase: Int32Array;
  /** How many cells a step over a listed axis may have before its cells and gates are moved to a larger place. */
  readonly cellSpace: Int32Array;
  // Written by cell-values.ts.
  /** By step and cell: the values of decided cells that the plan does not know. */
  readonly lateValues: Map<number, CellValues[]>;
  // Written by move-cell.ts.
  /** Cells by state. */
  readonly counts: Int32Array;
  /** By gate. */
  phase: Uint8Array;
  /** Gates in `deciding`. */
  openDecisions: number;
  readonly openCells: Int32Array;
  /** The terminal states that its cells have ended in, as bits. */
  readonly seen: Uint16Array;
  /** By step over a listed axis: the cells that stand for lists that are not known, and those that stood for empty ones. */
  readonly unlisted: Int32Array;
  readonly emptied: Int32Array;
  /** Failed cells by step, tolerated or not. */
  readonly failures: Int32Array;
  /** 1 for a step of which more cells have failed than its `continueOnError` tolerates, if that is a limit. */
  readonly exceeded: Uint8Array;
  /** Such steps whose other cells have not been stopped yet. */
  readonly newlyExceeded: number[];
  /** Until when the cells in `backingOff` wait, by cell number; with the reason if their submission was postponed. */
  readonly backOffs: Map<number, WaitForTime>;
  /** Ended steps whose dependents have not been updated yet. */
  readonly ended: number[];
  /** Ended cells for which cells of other steps wait, not counted yet. */
  readonly endedCells: EndedCell[];
  /** Services without `each` of which a cell ended before it was ready, not handled yet. */
  readonly brokenServices: number[];
  /** Live cells of ready services whose end has not been requested: they do not end by themselves. */
  servingCells: number;
  failed: boolean;
  /** The first step whose failure was not tolerated. */
  firstFailure: number;
  /** The step whose failure stops the run, handled before the next pick; -1 for none. */
  tripped: number;
  /** Ready cells have been stopped and are still in the queue. */
  queueDirty: boolean;
  /** Ignored answers: for another attempt, or for a cell that has ended. */
  staleAnswers: number;
  // Written by set-cause.ts.
  /** By gate, as are the other causes. */
  causeKind: Uint8Array;
  causeStep: Int32Array;
  /** The cell of the step in `causeStep`; -1 for none in particular. */
  causeCell: Int32Array;
  /** The condition that the step in `causeStep` did not satisfy, as an edge's byte. */
  causeEdge: Uint8Array;
  // Written by step-flow.ts.
  /** By gate: unresolved dependencies; a step of `finally` has one more, for all the other steps. */
  blockers: Int32Array;
  /**
   * For a watched step: cells that have not run yet, and for a service with `each` not ended either; -1 after its early
   * edges have been resolved.
   */
  readonly notRun: Int32Array;
  /** The number of items of each `foreach` whose cells exist. */
  readonly expanded: Map<number, number>;
  openMain: number;
  openFinal: number;
  finalsReleased: boolean;
  /** The status of the run when `finally` was released. */
  mainStatus: RunStatus;
  // Written by service-flow.ts.
  /** By gate of a service: the steps and cells that use it and have not ended. -1 if it never had any. */
  readonly needers: Int32Array;
  // Written by stop-flow.ts.
  stop: number;
  cancelRequests: number;
  finalsCanceled: boolean;
  // Written by stuck.ts.
  /** What the cells of a step waited for when the run was stuck. */
  readonly stuckReasons: Map<number, WaitReason>;
  // Written by timer-flow.ts.
  wakeAt: number;
  // Written by handle-event.ts.
  started: boolean;
  finished: boolean;
  now: number;
  // Written by send-command.ts.
  out: Command[];
}

/** The key of a cell in the ready queue: the best one is the smallest. */
export function queueKey({ position, cellPlaces }: PlanIndex, step: number, cell: number): number {
  return (cellPlaces.get(step)?.[cell] ?? position[step]!) * CELL_SPAN + cell;
}

/** The cell of a key. */
export function cellOfKey({ stepAt }: PlanIndex, key: number): { readonly step: number; readonly cell: number } {
  const place = Math.floor(key / CELL_SPAN);
  return { step: stepAt[place]!, cell: key - place * CELL_SPAN };
}

/** Creates the state before the event `started`: every step waits. */
export function createRunState(plan: Plan, options: SchedulerOptions): RunState {
  const index = createPlanIndex(plan, options);
  const count = index.stepCount;
  const capacity = Math.min(options.parallelism ?? Infinity, plan.pipeline.parallelism ?? Infinity);
  const matched = createMatches(plan);
  const stateOf = (step: number, cell: number): number => run.cells.state[run.cellBase[step]! + cell]!;
  const run: RunState = {
    plan,
    index,
    ...createGates(plan),
    ...matched,
    items: limitItems(plan, { ...matched, index, stateOf }),
    seed: options.seed ?? '',
    onMove: options.onMove,
    queue: createReadyQueue(capacity, index),
    timers: createTimers(),
    history: createHistory(),
    cells: createCellTable(index.staticCells + count),
    counts: new Int32Array(16),
    ...createStepCounts(count),
    newlyExceeded: [],
    expanded: new Map(),
    backOffs: new Map(),
    lateValues: new Map(),
    stuckReasons: new Map(),
    ended: [],
    endedCells: [],
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
  for (let step = 0; step < count; step++) {
    countBlockers(run, step);
    if ((index.flags[step]! & STEP.service) === 0) continue;
    for (const [cell, users] of countNeeders(run, step, run.cellCount[step]!).entries())
      if (users > 0) run.needers[run.gateBase[step]! + cell] = users;
  }
  return run;
}

/** What a run counts by step. */
function createStepCounts(count: number) {
  return {
    cellBase: new Int32Array(count),
    cellCount: new Int32Array(count),
    openCells: new Int32Array(count),
    seen: new Uint16Array(count),
    failures: new Int32Array(count),
    exceeded: new Uint8Array(count),
    notRun: new Int32Array(count),
  };
}

function limitItems(
  plan: Plan,
  {
    index,
    ...reader
  }: Pick<RunState, 'matches' | 'batches' | 'index'> & Pick<Parameters<typeof createItemLimits>[1], 'stateOf'>,
): ItemLimits | undefined {
  return createItemLimits(plan, {
    ...reader,
    keyOf: (step, cell) => queueKey(index, step, cell),
    placeOf: (key) => cellOfKey(index, key),
  });
}

function createMatches(plan: Plan) {
  const batches = batchesOfPlan(plan);
  return {
    batches,
    matches: createMatchTable(plan, batches),
    cellSpace: new Int32Array(batches.length),
    unlisted: Int32Array.from(batches, (one) => one?.planned ?? 0),
    emptied: new Int32Array(batches.length),
  };
}

/** Creates a step's cells, all waiting. An undecided `foreach` has one that represents all. */
export function setCells(run: RunState, { step, count }: { step: number; count: number }): void {
  checkCount(step, count);
  const replaced = run.cellCount[step]!;
  if (count !== replaced) run.cellBase[step] = run.cells.add(count);
  run.cellCount[step] = count;
  run.openCells[step] = count;
  run.notRun[step] = count;
  run.counts[0]! += count - replaced;
}

function checkCount(step: number, count: number): void {
  if (count < CELL_SPAN) return;
  throw new RangeError(`cannot give step ${step} ${count} cells: at most ${CELL_SPAN - 1} are possible`);
}

/**
 * Adds cells to a step over a listed axis, which wait for the same as the cell that stood for their list. If there is no space
 * behind its cells, all of them are moved, to twice the space.
 */
export function addCells(run: RunState, step: number, { like, added }: { like: number; added: number }): void {
  const count = run.cellCount[step]!;
  checkCount(step, count + added);
  if (count + added > Math.max(count, run.cellSpace[step]!)) moveCells(run, step, 2 * (count + added));
  const first = run.gateBase[step]! + count;
  // A dependency may have ended before the list was known.
  for (const row of [run.blockers, run.causeKind, run.causeStep, run.causeCell, run.causeEdge])
    row.fill(row[run.gateBase[step]! + like]!, first, first + added);
  run.cellCount[step] = count + added;
  run.openCells[step]! += added;
  run.notRun[step]! += added;
  run.counts[0]! += added;
  run.items?.addCells(step, like, added);
}

function moveCells(run: RunState, step: number, space: number): void {
  const [count, from, firstGate] = [run.cellCount[step]!, run.cellBase[step]!, run.gateBase[step]!];
  const to = run.cells.add(space);
  run.cells.move(from, { to, count });
  run.history.move(from, { to, count });
  for (let cell = 0; cell < count; cell++) {
    const wait = run.backOffs.get(from + cell);
    if (wait !== undefined && run.backOffs.delete(from + cell)) run.backOffs.set(to + cell, wait);
  }
  run.cellBase[step] = to;
  run.cellSpace[step] = space;
  run.gateBase[step] = run.phase.length;
  const size = run.phase.length + space;
  const grow = <T extends Uint8Array | Int32Array>(old: T, fresh: T): T => {
    fresh.set(old);
    fresh.copyWithin(old.length, firstGate, firstGate + count);
    return fresh;
  };
  run.phase = grow(run.phase, new Uint8Array(size));
  run.blockers = grow(run.blockers, new Int32Array(size));
  run.causeKind = grow(run.causeKind, new Uint8Array(size));
  run.causeStep = grow(run.causeStep, new Int32Array(size).fill(-1));
  run.causeCell = grow(run.causeCell, new Int32Array(size).fill(-1));
  run.causeEdge = grow(run.causeEdge, new Uint8Array(size));
}

function countBlockers(run: RunState, step: number): void {
  const { flags, stepEdgeCount } = run.index;
  const shared = stepEdgeCount[step]! + ((flags[step]! & STEP.final) === 0 ? 0 : 1);
  const isEach = (flags[step]! & STEP.each) !== 0;
  for (let cell = 0; cell < (isEach ? run.cellCount[step]! : 1); cell++)
    run.blockers[run.gateBase[step]! + cell] = shared + (isEach ? run.matches.openGroups(step, cell) : 0);
}
