import type { Outcome, PostponeReason, SchedulerEvent } from '../model/event.ts';
import { CAUSE } from '../model/legal-moves.ts';
import { CODE } from '../model/state-code.ts';
import { cancelReason, setCancelReason } from '../state/cancel-reason.ts';
import { CELL } from '../state/cell-table.ts';
import { valuesOf } from '../state/cell-values.ts';
import type { ItemLimits } from '../state/item-limits.ts';
import { addFlag, checkCell, countStale, moveCell } from '../state/move-cell.ts';
import { STEP } from '../state/plan-index.ts';
import { cellOfKey, type RunState } from '../state/run-state.ts';
import { sendCommand } from '../state/send-command.ts';
import { mayStart, noteCapacity, slowDown, speedUp, spendStart } from '../state/start-pace.ts';
import { attemptVerdict } from './attempt-verdict.ts';
import { backoffDelay } from './backoff.ts';
import { listItems } from './list-flow.ts';
import { decideRetry, failureState } from './retry-decision.ts';
import { accepts, cellRan, enterQueue, makeReady } from './step-flow.ts';
import { cancelCell, stopEnd, stopGate } from './stop-flow.ts';

type AttemptEventOf = Extract<SchedulerEvent, { readonly attempt: number }>;

/**
 * Handles an event about one attempt. An event about an attempt other than the current one, or about an ended cell, is
 * only counted.
 */
export function attemptEvent(run: RunState, event: AttemptEventOf): void {
  const { step, cell, attempt } = event;
  checkCell(run, step, cell);
  const id = run.cellBase[step]! + cell;
  if (attempt !== run.cells.attempt[id]) {
    countStale(run);
    return;
  }
  if (event.type === 'capacityFreed') {
    if (run.cells.state[id] === CODE.backingOff) makeReady(run, step, { cell, cause: CAUSE.due });
    else countStale(run);
    return;
  }
  if (event.type === 'pulling') {
    pulling(run, step, cell);
    return;
  }
  if (event.type === 'notReady') {
    const isOpen = run.cells.state[id] === CODE.running && (run.cells.flags[id]! & CELL.serving) === 0;
    if (isOpen) cancelCell(run, step, { cell, reason: 'notReady' });
    else countStale(run);
    return;
  }
  if (!accepts(run, step, { cell, cause: CAUSE[event.type] })) return;
  switch (event.type) {
    case 'submitted':
      submitted(run, step, cell);
      return;
    case 'postponed':
      postponed(run, event);
      return;
    case 'running':
      running(run, event);
      return;
    case 'serviceReady':
      running(run, event);
      if ((run.index.flags[step]! & STEP.service) !== 0) cellRan(run, step, cell);
      return;
    case 'published':
      listItems(run, event);
      moveCell(run, step, { cell, to: CODE.succeeded, cause: CAUSE.published });
      return;
    case 'ended':
      ended(run, event);
  }
}

const NO_CELLS: ReturnType<ItemLimits['admit']> = Object.freeze([]);

/** Starts ready cells, best first, as long as limits and pace permit. */
export function startReady(run: RunState): void {
  for (const { step, cell } of run.items?.admit() ?? NO_CELLS) enterQueue(run, step, cell);
  while (mayStart(run)) {
    const key = run.queue.pick();
    if (key < 0) return;
    spendStart(run);
    const { step, cell } = cellOfKey(run.index, key);
    const id = run.cellBase[step]! + cell;
    moveCell(run, step, { cell, to: CODE.submitting, cause: CAUSE.picked });
    const attempt = run.cells.attempt[id]!;
    sendCommand(run, { type: 'submit', step, cell, attempt, escalationLevel: run.cells.escalationLevel[id]! });
    if ((run.index.flags[step]! & STEP.timed) !== 0) startDeadline(run, step, cell);
  }
}

function startDeadline(run: RunState, step: number, cell: number): void {
  const id = run.cellBase[step]! + cell;
  const { deadlineMs } = valuesOf(run, step, cell);
  if (deadlineMs === undefined || (run.cells.flags[id]! & CELL.started) !== 0) return;
  addFlag(run, id, CELL.started);
  run.timers.add({ kind: 'deadline', at: run.now + deadlineMs, step, cell, attempt: 0 });
}

function submitted(run: RunState, step: number, cell: number): void {
  const id = run.cellBase[step]! + cell;
  if (run.cells.state[id] !== CODE.submitting) return;
  moveCell(run, step, { cell, to: CODE.pending, cause: CAUSE.submitted });
  speedUp(run);
  if ((run.index.flags[step]! & STEP.timed) === 0) return;
  const { queueTimeoutMs } = valuesOf(run, step, cell);
  if (queueTimeoutMs === undefined) return;
  run.timers.add({ kind: 'queueTimeout', at: run.now + queueTimeoutMs, step, cell, attempt: run.cells.attempt[id]! });
}

/** Reported again after a resume: the timer that is due first counts, also if the clock was set back meanwhile. */
function pulling(run: RunState, step: number, cell: number): void {
  const id = run.cellBase[step]! + cell;
  const { timeoutMs } = valuesOf(run, step, cell);
  if (run.cells.state[id] !== CODE.pending || timeoutMs === undefined) countStale(run);
  else run.timers.add({ kind: 'pullTimeout', at: run.now + timeoutMs, step, cell, attempt: run.cells.attempt[id]! });
}

function postponed(run: RunState, event: Extract<SchedulerEvent, { type: 'postponed' }>): void {
  const { step, cell } = event;
  const id = run.cellBase[step]! + cell;
  if (run.cells.cancel[id] !== 0) {
    finish(run, { step, cell, outcome: { result: 'canceled' }, cause: CAUSE.postponed });
    return;
  }
  slowDown(run, event);
  backOff(run, { ...event, cause: CAUSE.postponed });
  const end = stopEnd(run, step, cell);
  if (end !== undefined) stopGate(run, { step, cell }, end);
}

function running(run: RunState, { step, cell, since = run.now }: { step: number; cell: number; since?: number }): void {
  const id = run.cellBase[step]! + cell;
  const state = run.cells.state[id]!;
  if (state === CODE.running || state === CODE.publishing) return;
  moveCell(run, step, { cell, to: CODE.running, cause: CAUSE.running });
  const { service } = run.plan.steps[step]!.step;
  const { timeoutMs } = valuesOf(run, step, cell);
  const watched = (run.index.flags[step]! & (STEP.watched | STEP.service)) !== 0;
  if (watched && service?.ready === undefined) cellRan(run, step, cell);
  if (timeoutMs !== undefined) {
    const from = Math.min(since, run.now);
    run.timers.add({ kind: 'timeout', at: from + timeoutMs, step, cell, attempt: run.cells.attempt[id]! });
  }
}

function ended(run: RunState, { step, cell, outcome }: Extract<SchedulerEvent, { type: 'ended' }>): void {
  const id = run.cellBase[step]! + cell;
  // A second observation of the container after its success: only a failure to publish changes the state now.
  if (run.cells.state[id] === CODE.publishing && outcome.result !== 'failed') countStale(run);
  else finish(run, { step, cell, outcome, cause: CAUSE.ended });
}

interface AttemptEnd {
  readonly step: number;
  readonly cell: number;
  readonly outcome: Outcome;
  readonly cause: number;
}

/** The attempt has ended: publish, end the cell, or retry. */
function finish(run: RunState, { step, cell, outcome, cause }: AttemptEnd): void {
  const id = run.cellBase[step]! + cell;
  const asked = cancelReason(run, id);
  const end = attemptVerdict(outcome, asked);
  noteCapacity(run);
  setCancelReason(run, id, undefined);
  if (end.result === 'failed') {
    fail(run, { step, cell, outcome: end, cause });
    return;
  }
  if (end.result === 'canceled') {
    moveCell(run, step, { cell, to: CODE.canceled, cause });
    return;
  }
  if (outcome.result !== 'succeeded' || (run.index.flags[step]! & STEP.publishes) === 0) {
    moveCell(run, step, { cell, to: CODE.succeeded, cause });
    return;
  }
  moveCell(run, step, { cell, to: CODE.publishing, cause });
  sendCommand(run, { type: 'publish', step, cell, attempt: run.cells.attempt[id]! });
}

type Failed = Extract<Outcome, { result: 'failed' }>;

function fail(run: RunState, { step, cell, outcome, cause }: AttemptEnd & { readonly outcome: Failed }): void {
  const id = run.cellBase[step]! + cell;
  const { cells } = run;
  const { retry } = valuesOf(run, step, cell);
  const decision = decideRetry(
    {
      class: outcome.class,
      exitCode: outcome.exitCode,
      permanent:
        outcome.permanent === true || (cells.flags[id]! & CELL.expired) !== 0 || stopEnd(run, step, cell) !== undefined,
      isFree: outcome.isFree,
      retries: cells.retries[id]!,
      infrastructureRetries: cells.infrastructureRetries[id]!,
      escalationLevel: cells.escalationLevel[id]!,
    },
    retry,
  );
  if (!decision.retry) {
    moveCell(run, step, { cell, to: CODE[failureState(outcome.class)], cause });
    return;
  }
  if (decision.budget === 'limit') cells.retries[id]!++;
  else if (decision.budget === 'infrastructure') cells.infrastructureRetries[id]!++;
  cells.lastFailure[id] = CODE[failureState(outcome.class)];
  const failures = cells.attempt[id]!;
  const { name } = run.plan.steps[step]!.step;
  const delay = backoffDelay(retry.backoff, failures, `${run.seed}/${name}/${cell}`);
  if (delay > 0) backOff(run, { step, cell, until: run.now + delay, cause });
  else makeReady(run, step, { cell, cause });
  cells.attempt[id]!++;
  cells.escalationLevel[id] = decision.escalationLevel;
}

interface BackOff {
  readonly step: number;
  readonly cell: number;
  readonly until: number;
  readonly cause: number;
  readonly reason?: PostponeReason;
  readonly detail?: string;
}

function backOff(run: RunState, { step, cell, until, cause, reason, detail }: BackOff): void {
  moveCell(run, step, { cell, to: CODE.backingOff, cause, wait: { until, reason, detail } });
  run.timers.add({ kind: 'due', at: until, step, cell, attempt: 0 });
}
