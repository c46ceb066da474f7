import type { CellValues, Plan } from '@sluice/core';
import { stepState } from './flow/step-flow.ts';
import { findStuck, type HeldStep } from './flow/stuck.ts';
import { handleEvent } from './handle-event.ts';
import { assertInvariants } from './invariants.ts';
import type { CellState } from './model/cell-state.ts';
import type { Command, RunStatus } from './model/command.ts';
import type { SchedulerEvent } from './model/event.ts';
import type { LiveCell } from './model/live-cell.ts';
import type { SchedulerOptions } from './model/scheduler-options.ts';
import type { SkipCause } from './model/skip-cause.ts';
import { stateName } from './model/state-code.ts';
import type { WaitReason } from './model/wait-reason.ts';
import { valuesOf } from './state/cell-values.ts';
import type { HistoryEntry } from './state/history.ts';
import { checkCell } from './state/move-cell.ts';
import { createRunState } from './state/run-state.ts';
import { collectCommands } from './state/send-command.ts';
import { countStates, isExpanded, knownCells, liveCells, openCommands } from './view/cell-views.ts';
import { findSkipCause } from './view/find-skip-cause.ts';
import { findWaitReason } from './view/find-wait-reason.ts';
import { runStatus } from './view/run-status.ts';

/**
 * The state machine of one run. It awaits nothing, reads no clock and has no side effects; every change arrives through
 * `handle`.
 */
export interface Scheduler {
  /**
   * Takes one event and returns the commands to perform now, in order. With `into`, appends them there. Throws
   * `IllegalMove` for an event that is impossible in the present state.
   */
  handle(event: SchedulerEvent, into?: Command[]): Command[];
  /**
   * After a replay: repeats every command that has not been answered, in order of steps and cells; the last is the
   * wake-up, if any.
   */
  resume(): Command[];
  /** The state of a cell, or of the whole step if `cell` is omitted. Throws for a cell that the step does not have. */
  state(step: number, cell?: number): CellState;
  /** The current attempt of a cell, or the next one if none has started; from 1. */
  attempt(step: number, cell: number): number;
  /** The escalation level of a cell: an index into `retry.escalate`, -1 for none. */
  escalationLevel(step: number, cell: number): number;
  /** The limits, priority, resources and retries of a cell; as far as the plan knows them, until the cell is decided. */
  values(step: number, cell: number): CellValues;
  /** Milliseconds that a step took in earlier runs; undefined if unknown. */
  expectedMs(step: string): number | undefined;
  /** Number of a step's cells; undefined until a `foreach` is decided, 1 if it ended before. */
  cellCount(step: number): number | undefined;
  /** Whether a step has its own cells. A `foreach` that ended before it was decided has one that represents all. */
  isExpanded(step: number): boolean;
  /** Cells by state. Undecided `foreach` steps count as one waiting cell. */
  counts(): Readonly<Record<CellState, number>>;
  /**
   * Cells in `submitting`, `pending` and `running`, in order of steps and cells: what a shell must check after a crash.
   */
  live(): LiveCell[];
  /** The moves of a cell, oldest first, as far as they are kept. */
  history(step: number, cell: number): HistoryEntry[];
  /** Why the cell has not been started; undefined if it has started or ended. */
  waitReason(step: number, cell: number): WaitReason | undefined;
  /** Why a cell ended, unless its own container decided that. */
  skipCause(step: number, cell: number): SkipCause | undefined;
  /**
   * How the run ended; until `finally` may start it is `running`, then how the other steps ended: `run.status` in
   * expressions.
   */
  readonly status: RunStatus | 'running';
  readonly isFinished: boolean;
  /** Ignored answers: for another attempt, or for a cell that has ended. */
  readonly staleAnswers: number;
  /**
   * The unfinished steps, if nothing is in flight that would end by itself and no timer is pending; otherwise
   * undefined.
   */
  stuck(): readonly HeldStep[] | undefined;
  /** Checks every index against every state and throws at the first contradiction. For tests: linear in the plan. */
  assertInvariants(): void;
}

/**
 * Creates the state machine of a new run. To resume a run, pass its recorded events to `handle` and then call `resume`.
 */
export function createScheduler(plan: Plan, options: SchedulerOptions = {}): Scheduler {
  const run = createRunState(plan, options);
  // The cells of all steps are in one table: beyond the last cell of a step is the first one of another.
  const checked = (step: number, cell: number) => {
    checkCell(run, step, cell);
    return cell;
  };
  const id = (step: number, cell: number) => run.cellBase[step]! + checked(step, cell);
  return {
    handle(event, into = []) {
      collectCommands(run, into);
      handleEvent(run, event);
      return into;
    },
    resume: () => openCommands(run),
    state: (step, cell) => (cell === undefined ? stepState(run, step) : stateName(run.cells.state[id(step, cell)]!)),
    attempt: (step, cell) => run.cells.attempt[id(step, cell)]!,
    escalationLevel: (step, cell) => run.cells.escalationLevel[id(step, cell)]!,
    values: (step, cell) => valuesOf(run, step, checked(step, cell)),
    expectedMs: (step) => options.durations?.(step),
    cellCount: (step) => knownCells(run, step),
    isExpanded: (step) => isExpanded(run, step),
    counts: () => countStates(run),
    live: () => liveCells(run),
    history: (step, cell) => run.history.of(id(step, cell)),
    waitReason: (step, cell) => findWaitReason(run, step, checked(step, cell)),
    skipCause: (step, cell) => findSkipCause(run, step, checked(step, cell)),
    get status() {
      if (run.finished) return runStatus(run);
      return run.finalsReleased ? run.mainStatus : 'running';
    },
    get isFinished() {
      return run.finished;
    },
    get staleAnswers() {
      return run.staleAnswers;
    },
    stuck: () => findStuck(run),
    assertInvariants: () => assertInvariants(run),
  };
}
