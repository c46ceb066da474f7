import type { EventFacts, JournalRecord } from '../records/journal-record.ts';
import type { Command } from '../scheduler/model/command.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { checkBegun } from './check-begun.ts';
import { checkRecord } from './check-record.ts';
import { addListed, checkListed } from './listed-cells.ts';
import { addContainerFacts, attemptFacts, cellFacts, hasAttempt, type RunFacts } from './run-facts.ts';

type EventRecord = Extract<JournalRecord, { kind: 'event' }>;

/** The two halves of a run's state, which each event changes together. */
export interface RunHalves {
  readonly facts: RunFacts;
  readonly scheduler: Scheduler;
}

/**
 * Applies an event to the scheduler, and what the scheduler has taken of it to the facts: the only way for an event, in
 * a live run and in a replay alike, so that the facts hold no cell or answer that the scheduler does not have. Returns
 * the scheduler's commands, appended to `into`. Throws before any change of the facts.
 */
export function applyEvent({ facts, scheduler }: RunHalves, record: EventRecord, into?: Command[]): Command[] {
  checkRecord(facts, record);
  checkBegun(scheduler, record);
  const { event, facts: recorded = {} } = record;
  if (event.type === 'published' || event.type === 'cacheHit') checkListed(event, recorded);
  const before = scheduler.staleAnswers;
  const commands = scheduler.handle(event, into);
  facts.recordedAt = Math.max(facts.recordedAt, event.at);
  const isStale = scheduler.staleAnswers > before;
  if (!isStale && (event.type === 'published' || event.type === 'cacheHit')) addListed(facts, event, recorded.lists);
  switch (event.type) {
    case 'started':
      facts.startedAt = event.at;
      break;
    case 'cancelRequested':
      facts.canceledBy ??= event.by;
      facts.canceledAt ??= event.at;
      break;
    // A report about a container is valid even if it arrives too late to change its cell.
    case 'postponed':
    case 'submitted':
    case 'running':
    case 'ended':
    case 'published':
      // Nothing is known of an attempt that was never asked for, such as that of a skipped cell.
      if (!isStale || hasAttempt(facts, event)) applyAttemptEvent(facts, event, recorded);
      break;
    default:
      if (!isStale) applyAnswer({ facts, scheduler }, event, recorded);
  }
  return commands;
}

/** Applies an answer that the scheduler has accepted: one after the end of its step or cell changes nothing. */
function applyAnswer({ facts, scheduler }: RunHalves, event: SchedulerEvent, recorded: EventFacts): void {
  switch (event.type) {
    case 'decided':
      // The run may be stopping, so that the step ends without its cells.
      if (scheduler.isExpanded(event.step)) setCells({ facts, scheduler }, event.step, recorded.cells);
      return;
    case 'evaluationFailed':
      if (event.cell === undefined) facts.evaluationErrors.set(event.step, event.message);
      else cellFacts(facts, event.step, event.cell).evaluationError = event.message;
      // The cell that represents all has no container.
      facts.failures.push({ step: event.step, cell: event.cell ?? 0, attempt: 1 });
      return;
    case 'cacheHit':
    case 'cacheMissed':
      applyLookup(facts, event, recorded);
      return;
    case 'notReady':
      attemptFacts(facts, event).notReady = event.message;
      return;
    case 'approved':
      if (event.cell === undefined) facts.answeredAt.set(event.step, event.at);
      else cellFacts(facts, event.step, event.cell).answeredAt = event.at;
      return;
    case 'stuck':
      facts.stuck = event.message;
      return;
    default:
      return;
  }
}

function setCells({ facts, scheduler }: RunHalves, step: number, recorded: EventFacts['cells']): void {
  // Only the cells of a foreach are not in the plan.
  const { foreach } = facts.plan.steps[step]!.step;
  if (recorded === undefined && foreach === undefined) return;
  const cells = recorded ?? [];
  const count = scheduler.cellCount(step);
  if (cells.length !== count) {
    throw new Error(`cannot describe the cells of step ${step}: it has ${count}, and ${cells.length} are recorded`);
  }
  facts.cells[step] = cells;
}

type EventOf<T extends SchedulerEvent['type']> = Extract<SchedulerEvent, { readonly type: T }>;

function applyLookup(facts: RunFacts, event: EventOf<'cacheHit' | 'cacheMissed'>, recorded: EventFacts): void {
  const cell = cellFacts(facts, event.step, event.cell);
  cell.lookedUpAt = event.at;
  if (event.type === 'cacheMissed') {
    if (recorded.missed) cell.missed = recorded.missed;
  } else if (recorded.cached) {
    cell.cached = recorded.cached;
    cell.results = recorded.cached.results;
  }
}

function applyAttemptEvent(
  facts: RunFacts,
  event: EventOf<'postponed' | 'submitted' | 'running' | 'ended' | 'published'>,
  recorded: EventFacts,
): void {
  const attempt = attemptFacts(facts, event);
  switch (event.type) {
    case 'postponed':
      attempt.postponed = { times: (attempt.postponed?.times ?? 0) + 1, reason: event.reason };
      // Slots of a pool are requested before the container, so this says nothing about an earlier request.
      if (event.reason !== 'pool') {
        attempt.declined = true;
        attempt.doubtfulSince = event.at;
      }
      return;
    case 'submitted':
      attempt.submitted = true;
      attempt.submittedAt ??= event.at;
      addContainerFacts(attempt, recorded.container, { replaces: false });
      return;
    case 'running':
      attempt.runningAt ??= event.since ?? event.at;
      addContainerFacts(attempt, recorded.container, { replaces: true });
      return;
    case 'ended':
      // Only a success can still change: if its outputs cannot be published, it becomes a failure.
      if (attempt.outcome && (attempt.outcome.result !== 'succeeded' || event.outcome.result === 'succeeded')) return;
      attempt.endedAt = recorded.times?.endedAt ?? event.at;
      if (recorded.times?.runningAt !== undefined) attempt.runningAt = recorded.times.runningAt;
      attempt.outcome = event.outcome;
      if (event.outcome.result !== 'succeeded') facts.failures.push(event);
      return;
    case 'published': {
      const cell = cellFacts(facts, event.step, event.cell);
      cell.winner = event.attempt;
      attempt.publishedAt = event.at;
      // A success that is restored keeps its results: readers that were reused may depend on them.
      cell.results = cell.missed?.restores?.results ?? recorded.results ?? {};
      return;
    }
  }
}
