import type { Plan } from '@sluice/core';
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
import { createRunState } from './state/run-state.ts';
import { collectCommands } from './state/send-command.ts';
import type { StoryEntry } from './state/story.ts';
import { countStates, knownCells, liveCells, openCommands } from './view/cell-views.ts';
import { findSkipCause } from './view/find-skip-cause.ts';
import { findWaitReason } from './view/find-wait-reason.ts';
import { runStatus } from './view/run-status.ts';

/** The state machine of one run. It awaits nothing, sees no clock and performs nothing; every change comes in by `handle`. */
export interface Scheduler {
  /**
   * Takes one event and returns what is to be done now, in this order. With `into`, the commands are appended there.
   * Throws `IllegalMove` for an event that cannot happen in the present state.
   */
  handle(event: SchedulerEvent, into?: Command[]): Command[];
  /** After a replay: every command that has no answer yet, again, in order of steps and cells; the last is the wake-up, if any. */
  resume(): Command[];
  /** The state of a cell, or of the whole step where `cell` is left out. */
  state(step: number, cell?: number): CellState;
  /** The attempt of a cell that is under way, or would be the next; from 1. */
  attempt(step: number, cell: number): number;
  /** The escalation escalationLevel of a cell: an index into `retry.escalate`, -1 for none. */
  escalationLevel(step: number, cell: number): number;
  /** Number of a step's cells; undefined while a `foreach` is undecided. */
  cellCount(step: number): number | undefined;
  /** Cells by state. Undecided `foreach` steps count as one waiting cell. */
  counts(): Readonly<Record<CellState, number>>;
  /** Cells in `submitting`, `pending` and `running`, in order of steps and cells: what a shell has to look at after a crash. */
  live(): LiveCell[];
  /** The moves of a cell, oldest first, as far as they are kept. */
  story(step: number, cell: number): StoryEntry[];
  /** Why the cell has not been started; undefined when it has, or is over. */
  waitReason(step: number, cell: number): WaitReason | undefined;
  /** Why a cell ended the way it did, where it was not by its own container. */
  skipCause(step: number, cell: number): SkipCause | undefined;
  /** How the run ended; before that, and once `finally` may start, how the other steps ended: `run.status` of its expressions. */
  readonly status: RunStatus | 'running';
  readonly isFinished: boolean;
  /** Answers for another attempt, or for a cell that is over; they changed nothing. */
  readonly staleAnswers: number;
  /** The steps that are not over, when nothing is under way that would end by itself and no time is waited for; undefined otherwise. */
  stuck(): readonly HeldStep[] | undefined;
  /** Cross-checks every index against every state; throws with the first contradiction. For tests: linear in the plan. */
  assertInvariants(): void;
}

export function createScheduler(plan: Plan, options: SchedulerOptions = {}): Scheduler {
  const run = createRunState(plan, options);
  const id = (step: number, cell: number) => run.cellBase[step]! + cell;
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
    cellCount: (step) => knownCells(run, step),
    counts: () => countStates(run),
    live: () => liveCells(run),
    story: (step, cell) => run.story.of(id(step, cell)),
    waitReason: (step, cell) => findWaitReason(run, step, cell),
    skipCause: (step, cell) => findSkipCause(run, step, cell),
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
