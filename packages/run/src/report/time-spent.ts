import { planLevels } from '@sluice/core';
import type { AttemptFacts, RunFacts } from '../facts/run-facts.ts';
import { answeredAtOf } from '../facts/run-facts.ts';
import { transferKey } from '../facts/transfer-key.ts';
import { TERMINAL_CELL_STATES } from '../scheduler/model/cell-state.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { TimePart } from '../schemas/time-parts.ts';
import type { TimeSpent } from '../schemas/time-spent.ts';
import { type RunTimes, timeCells } from './cell-times.ts';
import { createTimeTally, type TimeTally } from './time-tally.ts';
import { type CellPlace, findLastCell, type TracedCell, traceCriticalPath } from './trace-critical-path.ts';

interface Run {
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
}

/** Until when the time of a run that has not ended counts. */
export interface TimeSpentOptions {
  readonly now: number;
  /** A process executes the run; otherwise nothing is known after its last record. */
  readonly isExecuted: boolean;
  /** Of the cells of the run, if they are known already: there may be many. */
  readonly times?: RunTimes;
}

/**
 * Where the time of a run went, from its start to its end: each moment counts for one part, that of the cell on the
 * critical path. Undefined before its first step could start.
 */
export function measureTimeSpent(run: Run, { now, isExecuted, times: given }: TimeSpentOptions): TimeSpent | undefined {
  const { facts } = run;
  if (facts.startedAt <= 0) return undefined;
  const until = facts.finished?.at ?? now;
  const tally = createTimeTally({ from: facts.startedAt, until, pauses: facts.pauses });
  const known = facts.finished || isExecuted ? until : Math.min(until, facts.recordedAt);
  const times = given ?? timeCells(run, planLevels(facts.plan));
  const last = facts.finished ? undefined : findOpenCell(run, times);
  const end = last ?? findLastCell({ facts, times });
  const endedAt = end && (last ? known : (times.of(end.step, end.cell).endedAt ?? known));
  if (end && endedAt !== undefined) {
    for (const cell of traceCriticalPath({ facts, times }, { ...end, until: endedAt }))
      addCell(tally, run, { cell, isOpen: cell.step === last?.step });
  }
  if (facts.finished) addEnd(tally, facts);
  else if (waitsForCapacity(run)) tally.add('capacity', known);
  tally.add('other', known);
  tally.add('noExecutor', until);
  return tally.end();
}

/** What a cell of the critical path did from the end of the one before until the next one could start. */
function addCell(
  tally: TimeTally,
  { facts, scheduler }: Run,
  { cell: at, isOpen }: { readonly cell: TracedCell; readonly isOpen: boolean },
): void {
  const { step, cell, readyAt, until } = at;
  const { approval } = facts.plan.steps[step]!.step;
  const answeredAt = approval && answeredAtOf(facts, step, cell);
  const attempts = facts.known[step]?.[cell]?.attempts ?? [];
  const limited = tally.before(until);
  if (answeredAt !== undefined) limited.add('approval', answeredAt);
  limited.add('other', readyAt);
  if (attempts.length === 0) limited.add(approval ? 'approval' : 'other', until);
  attempts.forEach((attempt, index) => {
    if (index < attempts.length - 1) addRetried(limited, attempt, index);
    else addLast(limited, { facts, at, attempt, isRetry: index > 0 });
  });
  if (isOpen) limited.add(presentPart(scheduler.state(step, cell), attempts), until);
}

/** An attempt that was tried again. */
function addRetried(tally: TimeTally, attempt: AttemptFacts, index: number): void {
  tally.add(index === 0 ? 'capacity' : 'retries', attempt.askedAt);
  tally.add('retries', attempt.submittedAt);
  if (attempt.submittedAt === undefined) tally.add('retries', attempt.endedAt);
  else tally.addContainer('retries', attempt.endedAt);
}

/** The last attempt: what came before it is a retry, or the wait for capacity. */
function addLast(
  tally: TimeTally,
  given: {
    readonly facts: RunFacts;
    readonly at: CellPlace;
    readonly attempt: AttemptFacts;
    readonly isRetry: boolean;
  },
): void {
  const { facts, attempt, isRetry } = given;
  const { askedAt, submittedAt, runningAt, endedAt, publishedAt, postponed, doubtfulSince, outcome } = attempt;
  tally.add(isRetry ? 'retries' : 'capacity', askedAt);
  if (postponed !== undefined && postponed.reason !== 'pool') tally.add('capacity', doubtfulSince);
  tally.add('transfer', findTransfer(facts, attempt));
  tally.add('queued', submittedAt);
  // A container that ended between two observations is known to have run, unless it was canceled.
  const wasSeen = runningAt !== undefined || outcome === undefined || outcome.result === 'canceled';
  if (submittedAt === undefined && runningAt === undefined) tally.add('queued', endedAt);
  else tally.addContainer('queued', wasSeen ? (runningAt ?? endedAt) : undefined);
  tally.addContainer('computing', endedAt);
  tally.add('transfer', publishedAt);
}

/** When the last copy to the cluster of an attempt was completed that its request may have waited for. */
function findTransfer({ transfers }: RunFacts, attempt: AttemptFacts): number | undefined {
  const { askedAt, submittedAt = Infinity, clusterID } = attempt;
  if (askedAt === undefined || clusterID === undefined) return undefined;
  const prefix = transferKey({ to: clusterID, path: '' });
  return transfers.findLast(({ at, key }) => at >= askedAt && at <= submittedAt && key.startsWith(prefix))?.at;
}

/** What a cell does now that has not ended. */
function presentPart(state: ReturnType<Scheduler['state']>, attempts: readonly AttemptFacts[]): TimePart {
  switch (state) {
    case 'submitting':
    case 'pending':
      return 'queued';
    case 'running':
      return 'computing';
    case 'publishing':
      return 'transfer';
    case 'awaitingApproval':
      return 'approval';
    default:
      return attempts.some(({ endedAt }) => endedAt !== undefined) ? 'retries' : 'capacity';
  }
}

/** The outputs are copied after the last cell has ended. */
function addEnd(tally: TimeTally, { delivered, undelivered, deliveredAt }: RunFacts): void {
  const hasCopied = Object.keys(delivered).length > 0 || Object.keys(undelivered).length > 0;
  if (hasCopied) tally.add('transfer', deliveredAt);
}

/**
 * The cell for which the run waits now: of those with an attempt the one that could start first, otherwise an approval.
 * Services run as long as others use them.
 */
function findOpenCell({ facts, scheduler }: Run, times: RunTimes): CellPlace | undefined {
  let found: (CellPlace & { readonly rank: number; readonly readyAt: number }) | undefined;
  for (const { index, step } of facts.plan.steps) {
    for (const cell of times.cells(index)) {
      const { readyAt } = times.of(index, cell);
      const state = scheduler.state(index, cell);
      if (readyAt === undefined || TERMINAL_CELL_STATES.has(state)) continue;
      const rank = step.service ? 2 : state === 'awaitingApproval' ? 1 : 0;
      if (found === undefined || rank < found.rank || (rank === found.rank && readyAt < found.readyAt))
        found = { step: index, cell, rank, readyAt };
    }
  }
  return found;
}

function waitsForCapacity({ facts, scheduler }: Run): boolean {
  return facts.plan.steps.some(({ index }) => scheduler.state(index) === 'ready');
}
